#!lua
-- Takes messages of a topic and leases them in one step, so that there is no moment in which a message is recorded nowhere.
-- Drops an id without a body, which has ended or was too old, and the second mention of a message that has a live lease of
-- ours.
-- ARGV  topic with its prefix, token, lease in ms, how many, '1' to also list them in processing
-- Returns the time, and the id and the json of each message
local topic, token, length, most, listed = unpack(ARGV, FIRST)
local now = clock()
local deadline = now + tonumber(length)

local function is_held(id)
  local held, until_time = owner(id)
  return held and until_time > now
end

local taken = {now}
for _ = 1, tonumber(most) do
  local id = redis.call('RPOP', PENDING)
  if not id then break end
  local json = redis.call('HGET', PAYLOADS, id)
  if json and not is_held(id) then
    redis.call('HSETNX', PAYLOADS, queue_field(id), topic)
    lease(id, token, deadline)
    if listed == '1' then redis.call('LPUSH', PROCESSING, id) end
    taken[#taken + 1] = id
    taken[#taken + 1] = json
  end
end
return taken
