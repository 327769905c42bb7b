-- Shared by the scripts: CMake puts it between the first line of each, which has its flags, and the rest.
--
-- KEYS of every script: payloads, expires, delays, dlq, dlq:data, errors, errors:data, our own, lost, import and letters, and
--   where the script is about one topic its pending and processing.
-- ARGV of every script: the time, empty for the server's own; the channel for news of delayed messages; what all keys begin
--   with. What follows is the script's own.
--
-- Some scripts learn topics from messages and use their lists without having been given them: mx-rmq cannot be had in a
-- cluster anyway. Redis takes nothing back: keys are looked at before the first write.
--
-- A lease is a score in expires, where Python sees it, and `score token` in own. It holds as long as both agree: whoever of
-- the Python side takes the message, times it out or ends it gives it another score, or none.
local PAYLOADS, EXPIRES, DELAYS, DLQ, DLQ_DATA, ERRORS, ERRORS_DATA, OWN, LOST, IMPORT, LETTERS, PENDING, PROCESSING =
  unpack(KEYS)
local WAKE, PREFIX = ARGV[2], ARGV[3]
local FIRST = 4  -- of a script's own arguments

for _, key in ipairs({PAYLOADS, DLQ_DATA, ERRORS_DATA, OWN, LOST}) do redis.call('HLEN', key) end
for _, key in ipairs({EXPIRES, DELAYS, IMPORT}) do redis.call('ZCARD', key) end
redis.call('SCARD', LETTERS)
for _, key in ipairs({DLQ, ERRORS, PENDING, PROCESSING}) do redis.call('LLEN', key) end

local function clock()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Redis writes a number that it is given with 17 digits.
local function text(number)
  return string.format('%.0f', number)
end

local function queue_field(id)
  return id .. ':queue'
end

-- The token of a lease that holds, and when it ends.
local function owner(id)
  local held = redis.call('HGET', OWN, id)
  if not held then return nil end
  local score, token = held:match('^(%d+) (.*)$')
  if not score or redis.call('ZSCORE', EXPIRES, id) ~= score then return nil end
  return token, tonumber(score)
end

local function lease(id, token, deadline)
  local score = text(deadline)
  redis.call('ZADD', EXPIRES, score, id)
  redis.call('HSET', OWN, id, score .. ' ' .. token)
end

-- No longer in anybody's hands. From the right, where the oldest are: from the left it would walk over all that came later.
local function let_go(id)
  redis.call('ZREM', EXPIRES, id)
  if PROCESSING then redis.call('LREM', PROCESSING, -1, id) end
  redis.call('HDEL', OWN, id)
end

-- Ends a message. What the caller has put elsewhere stays.
local function remove(id)
  let_go(id)
  redis.call('HDEL', LOST, id)
  redis.call('ZREM', IMPORT, id)
  redis.call('HDEL', PAYLOADS, id, queue_field(id))
end

-- For each message of the arguments that the caller holds: act(id, …). They begin at `first`, `size` for each: its id, a token, and
-- what act() gets besides. Gives for each 1, or 0 where somebody else has it, it has ended, or act() gave false.
local function each_held(first, size, act)
  local answers = {}
  for i = first, #ARGV, size do
    local id, token = ARGV[i], ARGV[i + 1]
    local done = owner(id) == token and act(id, unpack(ARGV, i + 2, i + size - 1)) ~= false
    answers[#answers + 1] = done and 1 or 0
  end
  return answers
end

local function delay(id, run_at, now)
  local head = redis.call('ZRANGE', DELAYS, 0, 0, 'WITHSCORES')
  redis.call('ZADD', DELAYS, text(run_at), id)
  local earliest = tonumber(head[2])
  if not earliest or run_at < earliest then
    redis.call('PUBLISH', WAKE, text(run_at))
  elseif earliest <= now then
    redis.call('PUBLISH', WAKE, text(now))
  end
end

-- Where a message belongs: what was stored with it or, where that is missing, what it says itself. Nil: nobody knows.
local function home(id, json)
  local queue = redis.call('HGET', PAYLOADS, queue_field(id))
  if queue then return queue end
  local readable, message = pcall(cjson.decode, json)
  if not readable or type(message) ~= 'table' or type(message.topic) ~= 'string' then return nil end
  local topic = message.topic:match('^%s*(.-)%s*$')
  if topic == '' then return nil end
  redis.call('HSET', PAYLOADS, queue_field(id), PREFIX .. topic)
  return PREFIX .. topic
end

-- Nobody will ever look at it.
local function is_orphan(id)
  if redis.call('ZSCORE', DELAYS, id) or redis.call('ZSCORE', EXPIRES, id) then return false end
  local queue = redis.call('HGET', PAYLOADS, queue_field(id))
  return not queue or not (redis.call('LPOS', queue .. ':pending', id) or redis.call('LPOS', queue .. ':processing', id))
end
