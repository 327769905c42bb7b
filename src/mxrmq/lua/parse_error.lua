#!lua flags=allow-oom
-- Messages that the caller holds and cannot read go to where people look for them; the oldest there give way.
-- ARGV  how many are kept; for each message: id, token, what is to be kept of it
-- Gives for each 1, or 0 where somebody else has it, or it has ended
local most = tonumber(ARGV[FIRST])
local answers = each_held(FIRST + 1, 3, function(id, kept)
  redis.call('HSET', ERRORS_DATA, id, kept)
  redis.call('LPUSH', ERRORS, id)
  remove(id)
end)
for _ = most + 1, redis.call('LLEN', ERRORS) do redis.call('HDEL', ERRORS_DATA, redis.call('RPOP', ERRORS)) end
return answers
