#!lua
-- Delayed messages that are due may be taken. One without a topic gets the one it names; one that names none stays in payloads,
-- where fsck finds it.
-- ARGV  how many
-- Gives how many were due, and in how many ms the next one is; -1 where there is none
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
