#!lua flags=allow-oom
-- Messages that the caller holds are to be taken again later. One that has lost its topic is refused: it would never be given to
-- anybody.
-- ARGV  for each message: id, token, delay in ms, json
-- Gives for each 1, or 0 where somebody else has it, or it has ended
local now = clock()
return each_held(FIRST, 4, function(id, wait, json)
  if redis.call('HEXISTS', PAYLOADS, queue_field(id)) == 0 then return false end
  redis.call('HSET', PAYLOADS, id, json)
  delay(id, now + tonumber(wait), now)
  let_go(id)
end)
