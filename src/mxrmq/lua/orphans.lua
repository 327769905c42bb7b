#!lua flags=no-writes
-- Which of these messages nobody will ever look at: they have a body, and are delayed, leased, pending and processing nowhere.
-- ARGV  ids
-- Gives those
local found = {}
for i = FIRST, #ARGV do
  if redis.call('HEXISTS', PAYLOADS, ARGV[i]) == 1 and is_orphan(ARGV[i]) then found[#found + 1] = ARGV[i] end
end
return found
