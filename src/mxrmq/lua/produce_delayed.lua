#!lua
-- Stores a message that may be taken later, and notifies the processes that wait for delayed messages. Does nothing if the id
-- exists, so the call can be repeated.
-- ARGV  id, json, topic with its prefix, delay in ms
-- Returns 1 (stored) or 0 (it existed)
local id, json, topic, wait = unpack(ARGV, FIRST)
if redis.call('HEXISTS', PAYLOADS, id) == 1 then return 0 end
local now = clock()
redis.call('HSET', PAYLOADS, id, json, queue_field(id), topic)
redis.call('HDEL', OWN, id)
redis.call('HDEL', LOST, id)
delay(id, now + tonumber(wait), now)
return 1
