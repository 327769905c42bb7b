#!lua flags=allow-oom
-- Messages that the caller holds become dead letters. Their ids may stay in pending, from where a claim drops them.
-- ARGV  for each message: id, token, json
-- Gives for each 1, or 0 where somebody else has it, or it has ended
local answers = {}
for i = FIRST, #ARGV, 3 do
  local id, token, json = unpack(ARGV, i, i + 2)
  local mine = owner(id) == token
  if mine then
    local queue = redis.call('HGET', PAYLOADS, queue_field(id))
    redis.call('HSET', DLQ_DATA, id, json)
    if queue then redis.call('HSET', DLQ_DATA, queue_field(id), queue) end
    redis.call('LPUSH', DLQ, id)
    let_go(id)
    redis.call('HDEL', LOST, id)
    redis.call('HDEL', PAYLOADS, id, queue_field(id))
  end
  answers[#answers + 1] = mine and 1 or 0
end
return answers
