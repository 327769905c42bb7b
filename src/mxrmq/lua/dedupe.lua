#!lua flags=allow-oom
-- Finds ids that are pending more than once; the oldest mention of each stays.
-- ARGV  '1' to remove the others, ids
-- Returns for each the number of other mentions, before removal
local remove, others = ARGV[FIRST] == '1', {}
for i = FIRST + 1, #ARGV do
  local places = redis.call('LPOS', PENDING, ARGV[i], 'COUNT', 0)
  local more = math.max(#places - 1, 0)
  if remove and more > 0 then redis.call('LREM', PENDING, more, ARGV[i]) end
  others[#others + 1] = more
end
return others
