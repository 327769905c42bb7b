#!lua
-- Takes messages out of the queue for an import: first those that an earlier import has left, then delayed ones, due or not,
-- then those of the topic, if one is given. They are leased: if the import never finishes, they come back.
-- ARGV  token, which starts with 'import-', lease in ms, how many
-- Returns for each: id, when to run it in ms ('' for at once), '1' if an earlier import had taken it, topic with its prefix
--       ('' if unknown), json
local token, length, most = ARGV[FIRST], tonumber(ARGV[FIRST + 1]), tonumber(ARGV[FIRST + 2])
local deadline, taken, reply = clock() + length, 0, {}

local function take(id, run_at)
  local json = redis.call('HGET', PAYLOADS, id)
  if not json then return end
  local before = redis.call('ZSCORE', IMPORT, id)
  lease(id, token, deadline)
  redis.call('ZADD', IMPORT, run_at == '' and '0' or run_at, id)
  taken = taken + 1
  for _, value in ipairs({id, run_at, before and '1' or '', home(id, json) or '', json}) do reply[#reply + 1] = value end
end

local left = redis.call('ZRANGE', IMPORT, 0, -1, 'WITHSCORES')
for i = 1, #left, 2 do
  local id, run_at = left[i], left[i + 1]
  local held = owner(id)
  if redis.call('HEXISTS', PAYLOADS, id) == 0 then
    redis.call('ZREM', IMPORT, id)
  elseif held and held ~= token and held:sub(1, 7) == 'import-' and taken < most then
    take(id, run_at == '0' and '' or run_at)
  end
end
local delayed = taken < most and redis.call('ZRANGE', DELAYS, 0, most - taken - 1, 'WITHSCORES') or {}
for i = 1, #delayed, 2 do
  redis.call('ZREM', DELAYS, delayed[i])
  take(delayed[i], delayed[i + 1])
end
while PENDING and taken < most do
  local id = redis.call('RPOP', PENDING)
  if not id then break end
  if not owner(id) then take(id, '') end
end
return reply
