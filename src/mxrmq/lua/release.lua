#!lua flags=allow-oom
-- Messages that the caller holds and has not worked on are the next to be taken again.
-- ARGV  for each message: id, token
-- Gives for each 1, or 0 where somebody else has it, or it has ended
local answers = {}
for i = FIRST, #ARGV, 2 do
  local id, token = ARGV[i], ARGV[i + 1]
  local mine = owner(id) == token
  if mine then
    redis.call('RPUSH', PENDING, id)
    let_go(id)
  end
  answers[#answers + 1] = mine and 1 or 0
end
return answers
