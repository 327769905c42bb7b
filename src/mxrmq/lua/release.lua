#!lua flags=allow-oom
-- Returns messages that the caller holds, and has not worked on, to the front of the queue.
-- ARGV  for each message: id, token
-- Returns for each 1, or 0 if another worker has it or it has ended
return each_held(FIRST, 2, function(id)
  redis.call('RPUSH', PENDING, id)
  let_go(id)
end)
