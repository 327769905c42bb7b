#!lua flags=no-writes
-- Finds messages that no worker will ever find: they have a body, but are not delayed, leased, pending or processing.
-- ARGV  ids
-- Returns those ids
local found = {}
for i = FIRST, #ARGV do
  if redis.call('HEXISTS', PAYLOADS, ARGV[i]) == 1 and is_orphan(ARGV[i]) then found[#found + 1] = ARGV[i] end
end
return found
