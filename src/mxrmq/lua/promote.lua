#!lua
-- Makes delayed messages that are due available. A message without a stored topic gets the one that it names; if it names none
-- it stays in payloads, where fsck finds it.
-- ARGV  how many
-- Returns how many were due, and the ms until the next one; -1 if there is none
local now = clock()
local due = redis.call('ZRANGE', DELAYS, '-inf', text(now), 'BYSCORE', 'LIMIT', 0, ARGV[FIRST])
for _, id in ipairs(due) do
  local json = redis.call('HGET', PAYLOADS, id)
  local queue = json and home(id, json)
  if queue then redis.call('LPUSH', queue .. ':pending', id) end
  redis.call('ZREM', DELAYS, id)
end
local head = redis.call('ZRANGE', DELAYS, 0, 0, 'WITHSCORES')
return {#due, head[2] and math.max(0, tonumber(head[2]) - now) or -1}
