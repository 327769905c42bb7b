-- Shared by the scripts: CMake puts it between the first line of each script, which has its flags, and the rest.
--
-- Every script has KEYS[1], the hash of the store; ARGV[1], the store's incarnation as the caller knows it; and ARGV[2], the
-- time, empty for the server's own. Redis does not roll back: a script checks everything it needs before its first write.
--
-- The bytes of records are in ../record_layout.def. FORMAT, AT, BYTES, SIZE and VALUES take them from there; they are replaced
-- by literals when the scripts are embedded. A task has a body, which never changes; a meta, once something has changed; and a
-- member in a set of due tasks, whose score is its next_at. Only the meta has the lease.
VALUES(Time)
VALUES(State)
VALUES(OwnerEnd)
VALUES(StoreField)
VALUES(AttemptLog)
local STRINGS = SIZE(Meta) + 1  -- where the strings of a meta begin

if redis.call('HGET', KEYS[1], INCARNATION) ~= ARGV[1] then
  return redis.error_reply('STALE the store is not the one that was opened')
end

local function clock()
  if ARGV[2] ~= '' then return tonumber(ARGV[2]) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Redis formats a number argument with 17 digits, which takes longer than most commands. So numbers are formatted once, here.
local function text(number)
  return string.format('%.17g', number)
end

local function later(now, delay)
  local time = now + delay
  return time > 2^53 and END or time
end

-- A table constructor with all fields allocates once; a table that gets its fields one by one grows five times.
local function read(meta)
  local version, state, next_at, name_space, handler, digest, lease, first_failed, last_failed, stage, outcome, attempts, crashes,
    deliveries, callbacks, owner, err, progress, result, rules = struct.unpack(FORMAT(Meta), meta)
  local at_error = STRINGS + owner
  local at_progress = at_error + err
  local at_result = at_progress + progress
  local at_rules = at_result + result
  return {version = version, state = state, next_at = next_at, name_space = name_space, handler = handler, digest = digest, lease = lease,
    first_failed = first_failed, last_failed = last_failed, stage = stage, outcome = outcome, attempts = attempts,
    crashes = crashes, deliveries = deliveries, callbacks = callbacks, owner = meta:sub(STRINGS, at_error - 1),
    error = meta:sub(at_error, at_progress - 1), progress = meta:sub(at_progress, at_result - 1),
    result = meta:sub(at_result, at_rules - 1), rules = meta:sub(at_rules, at_rules + rules - 1), log = meta:sub(at_rules + rules)}
end

local function write(t)
  return struct.pack(FORMAT(Meta), t.version, t.state, t.next_at, t.name_space, t.handler, t.digest, t.lease, t.first_failed, t.last_failed,
    t.stage, t.outcome, t.attempts, t.crashes, t.deliveries, t.callbacks, #t.owner, #t.error, #t.progress, #t.result, #t.rules)
    .. t.owner .. t.error .. t.progress .. t.result .. t.rules .. t.log
end

local function first_bytes(value, count) return string.sub(value, 1, count) end

-- The line of an attempt before the others; the oldest ones are dropped.
local function with_attempt(log, line)
  if line == '' then return log end
  if log == '' then return line end
  local last = 0
  for _ = 2, MOST_ATTEMPTS do
    last = log:find('\n', last + 1, true)
    if not last then return line .. '\n' .. log end
  end
  return line .. '\n' .. first_bytes(log, last - 1)
end

-- The meta with such a line.
local function noted(meta, line)
  if line == '' then return meta end
  local owner, err, progress, result, rules =
    struct.unpack(FORMAT(Meta: owner_size error_size progress_size result_size rules_size), meta, AT(Meta: owner_size))
  local at = STRINGS + owner + err + progress + result + rules
  return first_bytes(meta, at - 1) .. with_attempt(meta:sub(at), line)
end

-- The meta of a task that has none yet.
local function untouched(body)
  local _, next_at, name_space, handler, digest = struct.unpack(FORMAT(Body), body)
  return {version = 1, state = PENDING, name_space = name_space, handler = handler, digest = digest, next_at = next_at, lease = 0,
    first_failed = NEVER, last_failed = NEVER, stage = 0, outcome = 0, attempts = 0, crashes = 0, deliveries = 0,
    callbacks = 0, owner = '', error = '', progress = '', result = '', rules = '', log = ''}
end

-- False for a meta that was truncated: corrupted or manually edited.
local function is_whole(meta)
  return #meta >= SIZE(Meta)
end

-- Whether the task may have waited for a worker for as long as its owner held it.
local function waits(meta, owner_size)
  return owner_size > 0 and meta:byte(STRINGS + owner_size - 1) == WAITING
end

local function member(id, handler)
  return id .. struct.pack(FORMAT(Due: handler), handler)
end

-- Whether the key holds a sorted set, or nothing.
local function is_set(key)
  return type(redis.pcall('ZCARD', key)) == 'number'
end

local function refuse(key)
  error({err = 'WRONGTYPE ' .. key .. ' holds something else'})
end

-- unpack() takes a few thousand values at most. Slices are even, so that pairs stay together.
local SLICE = 4000

local function send(command, key, values)
  for from = 1, #values, SLICE do
    redis.call(command, key, unpack(values, from, math.min(from + SLICE - 1, #values)))
  end
end

local function ask(command, key, fields)
  if #fields <= SLICE then
    return #fields > 0 and redis.call(command, key, unpack(fields)) or {}
  end
  local all = {}
  for from = 1, #fields, SLICE do
    local part = redis.call(command, key, unpack(fields, from, math.min(from + SLICE - 1, #fields)))
    for i = 1, #part do all[#all + 1] = part[i] end
  end
  return all
end
