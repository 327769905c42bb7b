#!lua flags=allow-oom
-- Removes the oldest tasks of a history, a limited number per call.
-- KEYS     store, done, ended or dead tasks of a namespace, requeued, results, results_until
-- ARGV     incarnation, time, remove what ended before this time, keep at most, remove at most
-- Returns  time; how many were removed
local before, keep, most = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('HLEN', KEYS[2])
redis.call('HLEN', KEYS[4])
redis.call('HLEN', KEYS[5])
redis.call('ZCARD', KEYS[6])
local old = redis.call('ZCOUNT', KEYS[3], '-inf', '(' .. before)
local over = redis.call('ZCARD', KEYS[3]) - keep
local count = math.min(math.max(old, over, 0), most)
if count > 0 then
  local oldest, gone = redis.call('ZPOPMIN', KEYS[3], count), {}
  for i = 1, #oldest, 2 do gone[#gone + 1] = oldest[i] end
  send('HDEL', KEYS[2], gone)
  send('HDEL', KEYS[4], gone)
  send('HDEL', KEYS[5], gone)
  send('ZREM', KEYS[6], gone)
end
return {clock(), count}
