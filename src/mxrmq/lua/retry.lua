#!lua flags=allow-oom
-- Delays messages that the caller holds until their next attempt. A message that has lost its topic is refused, because no
-- worker would ever get it.
-- ARGV  for each message: id, token, delay in ms, json
-- Returns for each 1, or 0 if another worker has it or it has ended
local now = clock()
return each_held(FIRST, 4, function(id, wait, json)
  if redis.call('HEXISTS', PAYLOADS, queue_field(id)) == 0 then return false end
  redis.call('HSET', PAYLOADS, id, json)
  delay(id, now + tonumber(wait), now)
  let_go(id)
end)
