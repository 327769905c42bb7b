#!lua flags=allow-oom
-- Removes what is left of messages that no longer exist: their topics, or our leases.
-- ARGV  'payloads', 'dlq' or 'own', ids
-- Returns how many were removed
local which, removed = ARGV[FIRST], 0
local bodies = which == 'dlq' and DLQ_DATA or PAYLOADS

local function sweep(id)
  if which ~= 'own' then return redis.call('HDEL', bodies, queue_field(id)) end
  redis.call('HDEL', LOST, id)
  return redis.call('HDEL', OWN, id)
end

for i = FIRST + 1, #ARGV do
  if redis.call('HEXISTS', bodies, ARGV[i]) == 0 then removed = removed + sweep(ARGV[i]) end
end
return removed
