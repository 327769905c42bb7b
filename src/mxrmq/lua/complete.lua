#!lua flags=allow-oom
-- Ends messages that the caller holds.
-- ARGV  for each message: id, token
-- Gives for each 1, or 0 where somebody else has it, or it has ended
local answers = {}
for i = FIRST, #ARGV, 2 do
  local id, token = ARGV[i], ARGV[i + 1]
  local mine = owner(id) == token
  if mine then
    let_go(id)
    redis.call('HDEL', LOST, id)
    redis.call('ZREM', IMPORT, id)
    redis.call('HDEL', PAYLOADS, id, queue_field(id))
  end
  answers[#answers + 1] = mine and 1 or 0
end
return answers
