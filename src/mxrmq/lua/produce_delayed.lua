#!lua
-- Stores a message that may be taken later, and says so to whoever waits for delayed ones. One whose id is there already is left
-- alone, so that this may be repeated.
-- ARGV  id, json, topic with its prefix, delay in ms
-- Gives 1 (stored) or 0 (it was there)
local id, json, topic, wait = unpack(ARGV, FIRST)
if redis.call('HEXISTS', PAYLOADS, id) == 1 then return 0 end
local now = clock()
redis.call('HSET', PAYLOADS, id, json, queue_field(id), topic)
redis.call('HDEL', OWN, id)
redis.call('HDEL', LOST, id)
delay(id, now + tonumber(wait), now)
return 1
