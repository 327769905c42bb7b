#!lua
-- Makes orphans (see orphans.lua) available again. An orphan without a topic is leased to the caller, which moves it to the
-- unreadable messages.
-- ARGV  token, lease in ms, ids
-- Returns for each: id, 'rescued', 'held' (by another worker, or it has ended) or 'homeless', its topic with the prefix, its
--       json
local token, length, reply = ARGV[FIRST], tonumber(ARGV[FIRST + 1]), {}

local function rescue(id)
  local json = redis.call('HGET', PAYLOADS, id)
  if not json or not is_orphan(id) then return 'held', '', '' end
  local readable = pcall(cjson.decode, json)
  local queue = readable and home(id, json)
  if queue then
    redis.call('LPUSH', queue .. ':pending', id)
    return 'rescued', queue, ''
  end
  lease(id, token, clock() + length)
  return 'homeless', '', json
end

for i = FIRST + 2, #ARGV do
  local what, queue, json = rescue(ARGV[i])
  for _, value in ipairs({ARGV[i], what, queue, json}) do reply[#reply + 1] = value end
end
return reply
