#!lua flags=no-writes,allow-oom
-- KEYS  store, paused handlers of the namespace
-- ARGV  incarnation, time
-- Gives time, and of each its name, and since d and why in one text
return {clock(), unpack(redis.call('HGETALL', KEYS[2]))}
