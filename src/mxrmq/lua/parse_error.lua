#!lua flags=allow-oom
-- Messages that the caller holds and cannot read go to where people look for them; the oldest there give way.
-- ARGV  how many are kept; for each message: id, token, what is to be kept of it
-- Gives for each 1, or 0 where somebody else has it, or it has ended
local most, answers = tonumber(ARGV[FIRST]), {}
for i = FIRST + 1, #ARGV, 3 do
  local id, token, kept = unpack(ARGV, i, i + 2)
  local mine = owner(id) == token
  if mine then
    redis.call('HSET', ERRORS_DATA, id, kept)
    redis.call('LPUSH', ERRORS, id)
    let_go(id)
    redis.call('HDEL', LOST, id)
    redis.call('HDEL', PAYLOADS, id, queue_field(id))
  end
  answers[#answers + 1] = mine and 1 or 0
end
for _ = most + 1, redis.call('LLEN', ERRORS) do redis.call('HDEL', ERRORS_DATA, redis.call('RPOP', ERRORS)) end
return answers
