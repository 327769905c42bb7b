#!lua
-- Stores a message that may be taken at once. Does nothing if the id exists, so the call can be repeated.
-- ARGV  id, json, topic with its prefix, time to live in ms, '1' to put it in front of the others
-- Returns 1 (stored) or 0 (it existed)
local id, json, topic, ttl, urgent = unpack(ARGV, FIRST)
if redis.call('HEXISTS', PAYLOADS, id) == 1 then return 0 end
local deadline = clock() + tonumber(ttl)
redis.call('HSET', PAYLOADS, id, json, queue_field(id), topic)
redis.call('HDEL', OWN, id)
redis.call('HDEL', LOST, id)
redis.call('ZADD', EXPIRES, text(deadline), id)
redis.call(urgent == '1' and 'RPUSH' or 'LPUSH', PENDING, id)
return 1
