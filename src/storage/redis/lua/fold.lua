#!lua flags=allow-oom
-- Adds up the counts of old days in day 0.
-- KEYS     store, counts of a namespace
-- ARGV     incarnation, time, fields "day kind handler"
-- Returns  time
for i = 3, #ARGV do
  local tasks = redis.call('HGET', KEYS[2], ARGV[i])
  if tasks then
    redis.call('HDEL', KEYS[2], ARGV[i])
    redis.call('HINCRBY', KEYS[2], '0' .. ARGV[i]:match(' .*'), tasks)
  end
end
return {clock()}
