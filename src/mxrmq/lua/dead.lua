#!lua flags=allow-oom
-- Turns messages that the caller holds into dead letters. Their ids may stay in pending; a claim drops them.
-- ARGV  for each message: id, token, json
-- Returns for each 1, or 0 if another worker has it or it has ended
return each_held(FIRST, 3, function(id, json)
  local queue = redis.call('HGET', PAYLOADS, queue_field(id))
  redis.call('HSET', DLQ_DATA, id, json)
  if queue then redis.call('HSET', DLQ_DATA, queue_field(id), queue) end
  redis.call('LPUSH', DLQ, id)
  remove(id)
end)
