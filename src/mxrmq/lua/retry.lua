#!lua flags=allow-oom
-- Messages that the caller holds are to be taken again later. One that has lost its topic is refused: it would never be given to
-- anybody.
-- ARGV  for each message: id, token, delay in ms, json
-- Gives for each 1, or 0 where somebody else has it, or it has ended
local now, answers = clock(), {}
for i = FIRST, #ARGV, 4 do
  local id, token, wait, json = unpack(ARGV, i, i + 3)
  local mine = owner(id) == token and redis.call('HEXISTS', PAYLOADS, queue_field(id)) == 1
  if mine then
    redis.call('HSET', PAYLOADS, id, json)
    delay(id, now + tonumber(wait), now)
    let_go(id)
  end
  answers[#answers + 1] = mine and 1 or 0
end
return answers
