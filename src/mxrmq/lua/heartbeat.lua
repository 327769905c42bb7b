#!lua flags=allow-oom
-- Extends leases that the caller holds; never shortens them. An expired lease is renewed, too, if no worker took the message.
-- ARGV  lease in ms; for each message: id, token
-- Returns for each 1, or 0 if another worker has it or it has ended
local deadline, answers = clock() + tonumber(ARGV[FIRST]), {}
for i = FIRST + 1, #ARGV, 2 do
  local id, token = ARGV[i], ARGV[i + 1]
  local held, until_time = owner(id)
  if held == token and until_time < deadline then lease(id, token, deadline) end
  answers[#answers + 1] = held == token and 1 or 0
end
return answers
