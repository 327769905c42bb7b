#!lua flags=allow-oom
-- KEYS  store, paused handlers of the namespace
-- ARGV  incarnation, time, handler
-- Gives time, and 1 where it was paused
return {clock(), redis.call('HDEL', KEYS[2], ARGV[3])}
