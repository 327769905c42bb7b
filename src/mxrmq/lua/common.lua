-- Shared by all scripts: CMake inserts it between the first line of each, which has its flags, and the rest.
--
-- KEYS of every script: payloads, expires, delays, dlq, dlq:data, errors, errors:data, our own, lost, import and letters; and
--   pending and processing of the topic, if the script is about one topic.
-- ARGV of every script: the time, empty for the server's own; the channel for news of delayed messages; the prefix of all
--   keys. The script's own arguments follow.
--
-- Some scripts learn topics from messages and use their lists without having been given them as keys: mx-rmq does not run in a
-- cluster anyway. Redis does not roll back: all keys are checked before the first write.
--
-- A lease is a score in expires, where Python sees it, and `score token` in own. It is valid as long as both agree: when
-- Python takes the message, times it out or ends it, it changes or removes the score.
local PAYLOADS, EXPIRES, DELAYS, DLQ, DLQ_DATA, ERRORS, ERRORS_DATA, OWN, LOST, IMPORT, LETTERS, PENDING, PROCESSING =
  unpack(KEYS)
local WAKE, PREFIX = ARGV[2], ARGV[3]
local FIRST = 4  -- index of a script's first own argument

for _, key in ipairs({PAYLOADS, DLQ_DATA, ERRORS_DATA, OWN, LOST}) do redis.call('HLEN', key) end
for _, key in ipairs({EXPIRES, DELAYS, IMPORT}) do redis.call('ZCARD', key) end
redis.call('SCARD', LETTERS)
for _, key in ipairs({DLQ, ERRORS, PENDING, PROCESSING}) do redis.call('LLEN', key) end

local function clock()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Redis would write a number with 17 digits.
local function text(number)
  return string.format('%.0f', number)
end

local function queue_field(id)
  return id .. ':queue'
end

-- The token of a valid lease, and when it ends.
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

-- Ends the lease. LREM searches from the right, where the oldest are: from the left it would walk over all later ones.
local function let_go(id)
  redis.call('ZREM', EXPIRES, id)
  if PROCESSING then redis.call('LREM', PROCESSING, -1, id) end
  redis.call('HDEL', OWN, id)
end

-- Ends a message. Copies that the caller made elsewhere stay.
local function remove(id)
  let_go(id)
  redis.call('HDEL', LOST, id)
  redis.call('ZREM', IMPORT, id)
  redis.call('HDEL', PAYLOADS, id, queue_field(id))
end

-- Calls act(id, …) for each message in the arguments that the caller holds. They start at `first`, `size` for each: id, token,
-- and further arguments of act(). Returns for each 1, or 0 if another worker has it, it has ended, or act() returned false.
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

-- The topic of a message: the one stored with it or, if that is missing, the one it names itself. Nil: unknown.
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

-- True if no worker will ever find it.
local function is_orphan(id)
  if redis.call('ZSCORE', DELAYS, id) or redis.call('ZSCORE', EXPIRES, id) then return false end
  local queue = redis.call('HGET', PAYLOADS, queue_field(id))
  return not queue or not (redis.call('LPOS', queue .. ':pending', id) or redis.call('LPOS', queue .. ':processing', id))
end
