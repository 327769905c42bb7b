#!lua flags=allow-oom
-- Moves messages that the caller holds and cannot parse to the unreadable messages; the oldest of those are dropped.
-- ARGV  how many to keep; for each message: id, token, record to keep
-- Returns for each 1, or 0 if another worker has it or it has ended
local most = tonumber(ARGV[FIRST])
local answers = each_held(FIRST + 1, 3, function(id, kept)
  redis.call('HSET', ERRORS_DATA, id, kept)
  redis.call('LPUSH', ERRORS, id)
  remove(id)
end)
for _ = most + 1, redis.call('LLEN', ERRORS) do redis.call('HDEL', ERRORS_DATA, redis.call('RPOP', ERRORS)) end
return answers
