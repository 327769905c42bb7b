#!lua flags=allow-oom
-- Removes results whose time is over, a limited number per call.
-- KEYS     store, results, results_until
-- ARGV     incarnation, time, remove at most
-- Returns  time; how many were removed
redis.call('HLEN', KEYS[2])
local now = clock()
local gone = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', text(now), 'LIMIT', 0, ARGV[3])
send('HDEL', KEYS[2], gone)
send('ZREM', KEYS[3], gone)
return {now, #gone}
