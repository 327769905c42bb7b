#!lua flags=allow-oom
-- First step for messages whose time has run out: the caller leases them, and nothing is removed. If the caller dies before
-- the second step (retry, dead or parse_error), the lease expires and another worker does it.
-- ARGV  token, lease in ms, how many
-- Returns the time, and for each message: id, 'old' (not taken within its time to live) or 'lost' (its worker is gone), how
--       often it was lost, topic with its prefix ('' if unknown), json
local token, length, most = unpack(ARGV, FIRST)
local now = clock()
local deadline = now + tonumber(length)

-- Old ids are at the right end of a list.
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
