#!lua flags=allow-oom
-- Gives a deadline to messages whose worker died before it set one, and removes ended messages from processing. A live worker
-- that has not set its deadline yet overwrites this one.
-- ARGV  the deadline in ms from now, how many ids to check, starting with the oldest
-- Returns how many had no deadline
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
