#!lua flags=allow-oom
-- Removes tasks of some handlers that ended in some time, or only their arguments. Looks at a limited number of tasks per call, in
-- the order of their end. Allowed when the server's memory is full: it frees some.
-- KEYS     store, done, ended and dead tasks of the namespace, requeued, swept
-- ARGV     incarnation, time, from, until, handlers (HandlerNumber), TASKS or ARGUMENTS, how many tasks to look at
-- Returns  time; the end up to which it is done
VALUES(OutcomeNumber)
VALUES(BodyHas)
VALUES(Swept)
local from, done_until, what, most = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[6], ARGV[7]
local handlers = {}
for i = 1, #ARGV[5] / SIZE(HandlerNumber) do handlers[ARGV[5]:sub(BYTES(HandlerNumber[i]))] = true end
redis.call('HLEN', KEYS[2])
redis.call('HLEN', KEYS[5])
redis.call('HLEN', KEYS[6])

-- Tasks that were ended by one script have the same time. They are looked at together, however many they are.
for key = 3, 4 do
  local rest = redis.call('ZRANGEBYSCORE', KEYS[key], ARGV[3], '(' .. ARGV[4], 'WITHSCORES', 'LIMIT', most, 1)
  if rest[2] then done_until = math.min(done_until, math.max(tonumber(rest[2]), from + 1)) end
end

-- The beginning of the payload, which is all that follows. As records.cpp reads a body.
local function payload_at(body)
  local at = SIZE(Body) + 1
  local function byte()
    at = at + 1
    return body:byte(at - 1) or 0
  end
  local function varint()
    local value, scale, part = 0, 1, 0
    repeat
      part = byte()
      value, scale = value + part % 128 * scale, scale * 128
    until part < 128
    return value
  end
  local function skip(bytes) at = at + bytes end
  local has = byte()
  local function if_it_has(flag, pass) if has % (2 * flag) >= flag then pass() end end
  local function pass_text() skip(varint()) end
  if has % (2 * DERIVED_KEY) >= DERIVED_KEY then skip(16) else pass_text() end
  for _ = 1, 3 do varint() end  -- payload version, max_attempts, max_duration
  if byte() == 1 then skip(8) end  -- deadline
  if varint() == 0 then pass_text() end  -- backoff
  if_it_has(BUSINESS, function() pass_text() pass_text() end)
  if_it_has(TAGS, pass_text)
  if_it_has(TRACEPARENT, pass_text)
  if_it_has(GENERATION, varint)
  return at
end

-- Where the body of a task begins that need not be kept; nil for others.
local function body_at(value)
  if not value or #value < SIZE(Done) then return nil end
  local _, _, outcome, error_size, meta_size, at = struct.unpack(FORMAT(Done), value)
  at = at + error_size + meta_size
  local body = value:sub(at, at + SIZE(Body) - 1)
  if #body < SIZE(Body) or outcome == QUARANTINED or outcome == PARKED then return nil end
  return handlers[body:sub(BYTES(Body: handler))] and at or nil
end

local until_text = text(done_until)
for key = 3, 4 do
  local ids = redis.call('ZRANGEBYSCORE', KEYS[key], ARGV[3], '(' .. until_text)
  local values, gone, shorter = ask('HMGET', KEYS[2], ids), {}, {}
  for i, id in ipairs(ids) do
    local at = body_at(values[i])
    if at and what == TASKS then
      gone[#gone + 1] = id
    elseif at then
      shorter[#shorter + 1] = id
      shorter[#shorter + 1] = first_bytes(values[i], at + payload_at(values[i]:sub(at)) - 2)
    end
  end
  send('ZREM', KEYS[key], gone)
  send('HDEL', KEYS[2], gone)
  send('HDEL', KEYS[5], gone)
  send('HSET', KEYS[2], shorter)
end
for handler in pairs(handlers) do
  local field = what .. ' ' .. struct.unpack(FORMAT(HandlerNumber), handler)
  local before = redis.call('HGET', KEYS[6], field)
  if not before or tonumber(before) < done_until then redis.call('HSET', KEYS[6], field, until_text) end
end
return {clock(), done_until}
