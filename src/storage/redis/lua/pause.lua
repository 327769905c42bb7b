#!lua flags=allow-oom
-- Pauses a handler; one that is paused stays as it is. Allowed when the server's memory is full: it needs little, and helps then.
-- KEYS     store, paused handlers of the namespace
-- ARGV     incarnation, time, handler, reason, how many there may be
-- Returns  time; PAUSED, WAS_PAUSED or TOO_MANY
VALUES(PauseAnswer)
local now = clock()
if redis.call('HEXISTS', KEYS[2], ARGV[3]) == 1 then return {now, WAS_PAUSED} end
if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[5]) then return {now, TOO_MANY} end
redis.call('HSET', KEYS[2], ARGV[3], struct.pack(FORMAT(Paused), now) .. ARGV[4])
return {now, PAUSED}
