#!lua flags=allow-oom
-- Ends the pause of a handler.
-- KEYS     store, paused handlers of the namespace
-- ARGV     incarnation, time, handler
-- Returns  time; 1 if it was paused
return {clock(), redis.call('HDEL', KEYS[2], ARGV[3])}
