#!lua flags=allow-oom
-- Ends messages that the caller holds.
-- ARGV  for each message: id, token
-- Gives for each 1, or 0 where somebody else has it, or it has ended
return each_held(FIRST, 2, remove)
