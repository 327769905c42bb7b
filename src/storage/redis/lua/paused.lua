#!lua flags=no-writes,allow-oom
-- Lists paused handlers.
-- KEYS     store, paused handlers of the namespace
-- ARGV     incarnation, time
-- Returns  time; for each handler its name, and since when and why (Paused)
return {clock(), unpack(redis.call('HGETALL', KEYS[2]))}
