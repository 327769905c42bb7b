#!lua flags=allow-oom
-- Ends messages that the caller holds.
-- ARGV  for each message: id, token
-- Returns for each 1, or 0 if another worker has it or it has ended
return each_held(FIRST, 2, remove)
