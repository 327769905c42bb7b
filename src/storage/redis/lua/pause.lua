#!lua flags=allow-oom
-- A handler is paused; one that is stays as it is. Small, and what people need when the server is full.
-- KEYS  store, paused handlers of the namespace
-- ARGV  incarnation, time, handler, why, how many there may be
-- Gives time, and 'paused', 'was paused' or 'too many'
local now = clock()
if redis.call('HEXISTS', KEYS[2], ARGV[3]) == 1 then return {now, 'was paused'} end
if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[5]) then return {now, 'too many'} end
redis.call('HSET', KEYS[2], ARGV[3], struct.pack('<d', now) .. ARGV[4])
return {now, 'paused'}
