#!lua flags=allow-oom
-- Messages that the caller holds and has not worked on are the next to be taken again.
-- ARGV  for each message: id, token
-- Gives for each 1, or 0 where somebody else has it, or it has ended
return each_held(FIRST, 2, function(id)
  redis.call('RPUSH', PENDING, id)
  let_go(id)
end)
