#!lua flags=allow-oom
-- Which ids are pending several times; the oldest mention of each stays.
-- ARGV  '1' to remove the others, ids
-- Gives for each how many others there are, or were
local remove, others = ARGV[FIRST] == '1', {}
for i = FIRST + 1, #ARGV do
  local places = redis.call('LPOS', PENDING, ARGV[i], 'COUNT', 0)
  local more = math.max(#places - 1, 0)
  if remove and more > 0 then redis.call('LREM', PENDING, more, ARGV[i]) end
  others[#others + 1] = more
end
return others
