#!lua
-- Turns a dead letter back into a message with the same id.
-- ARGV  id, its json as the caller has read it, its new json, topic with its prefix (used if the letter has none), delay in ms
-- Returns 'done'; or, if nothing was done, 'gone', 'changed' (since it was read) or 'live' (a message with this id exists)
local id, before, json, topic, wait = unpack(ARGV, FIRST)
local there = redis.call('HGET', DLQ_DATA, id)
if not there then return 'gone' end
if there ~= before then return 'changed' end
if redis.call('HEXISTS', PAYLOADS, id) == 1 then return 'live' end
local queue = redis.call('HGET', DLQ_DATA, queue_field(id)) or topic
local pending = queue .. ':pending'
redis.call('LLEN', pending)
redis.call('LREM', DLQ, 0, id)
redis.call('HDEL', DLQ_DATA, id, queue_field(id))
redis.call('HSET', PAYLOADS, id, json, queue_field(id), queue)
if tonumber(wait) > 0 then
  local now = clock()
  delay(id, now + tonumber(wait), now)
else
  redis.call('LPUSH', pending, id)
end
return 'done'
