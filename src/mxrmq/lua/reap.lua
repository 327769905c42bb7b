#!lua flags=allow-oom
-- First half of what becomes of messages whose time has run out: the caller leases them, and nothing is removed. If it dies
-- before the second half (retry, dead or parse_error), the lease runs out, and somebody else does it.
-- ARGV  token, lease in ms, how many
-- Gives time, and of each message: id, 'old' (nobody has taken it in its time to live) or 'lost' (somebody took it and is gone),
--       how often it was lost, topic with its prefix ('' where nobody knows), json
local token, length, most = unpack(ARGV, FIRST)
local now = clock()
local deadline = now + tonumber(length)

-- What is old is at the right end of a list.
local function is_in(list, id)
  return redis.call('LPOS', list, id, 'RANK', -1)
end

local function waits(id, queue)
  return not owner(id) and not is_in(queue .. ':processing', id) and is_in(queue .. ':pending', id)
end

local reply = {now}
for _, id in ipairs(redis.call('ZRANGE', EXPIRES, '-inf', text(now), 'BYSCORE', 'LIMIT', 0, most)) do
  local json = redis.call('HGET', PAYLOADS, id)
  if not json then
    redis.call('ZREM', EXPIRES, id)
    redis.call('HDEL', OWN, id)
    redis.call('HDEL', LOST, id)
  else
    local queue = home(id, json)
    local old = queue and waits(id, queue)
    local lost = old and 0 or redis.call('HINCRBY', LOST, id, 1)
    lease(id, token, deadline)
    for _, value in ipairs({id, old and 'old' or 'lost', lost, queue or '', json}) do reply[#reply + 1] = value end
  end
end
return reply
