#!lua flags=allow-oom
-- What a worker took and died with before it gave it a deadline gets one; what has ended does not stay in processing. A live
-- worker that is between the two overwrites the deadline with its own.
-- ARGV  the deadline in ms from now, how many ids from the oldest are looked at
-- Gives how many were without
local deadline, most = text(clock() + tonumber(ARGV[FIRST])), tonumber(ARGV[FIRST + 1])
local without = 0
for _, id in ipairs(redis.call('LRANGE', PROCESSING, -most, -1)) do
  if redis.call('HEXISTS', PAYLOADS, id) == 0 then
    redis.call('LREM', PROCESSING, -1, id)
  else
    without = without + redis.call('ZADD', EXPIRES, 'NX', deadline, id)
  end
end
return without
