#!lua flags=allow-oom
-- Messages that the caller holds become dead letters. Their ids may stay in pending, from where a claim drops them.
-- ARGV  for each message: id, token, json
-- Gives for each 1, or 0 where somebody else has it, or it has ended
return each_held(FIRST, 3, function(id, json)
  local queue = redis.call('HGET', PAYLOADS, queue_field(id))
  redis.call('HSET', DLQ_DATA, id, json)
  if queue then redis.call('HSET', DLQ_DATA, queue_field(id), queue) end
  redis.call('LPUSH', DLQ, id)
  remove(id)
end)
