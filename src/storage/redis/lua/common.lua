-- Shared by the scripts: CMake puts it between the first line of each, which has its flags, and the rest.
--
-- Every script has KEYS[1], the hash of the store, ARGV[1], its incarnation as the caller knows it, and ARGV[2], the time:
-- empty for the server's own. Redis takes nothing back: a script looks at everything it needs before its first write.
--
-- Numbers are little-endian, times are milliseconds since 1970 as doubles, ids are 8 bytes, big-endian, because 63 bits do not
-- fit into a number of Lua. A task has
--   body   created d, next_at d, space H, handler H, digest c12, and what only the caller reads. Never changed
--   meta   what changes; none as long as nothing has: version 1, pending, due at the body's next_at
-- and as a member of a set of due tasks its id and its handler, with its next_at. A lease is in the meta alone.
local NEVER, END = -2^63, 2^63
local PENDING, RUNNING = 1, 2
local META = '<dBdHHc12dddBBi4i4i4i4HI4I4I4I4'
local STRINGS = 94  -- where they begin, after what META has
local BODY = 32     -- what a body has at least
local CRASHES, OWNER = 64, 76  -- where a meta has the number of crashes, i4, and the length of its owner, H
local WAITING = 0   -- the byte after an owner whose worker may not have begun with the task yet

if redis.call('HGET', KEYS[1], 'incarnation') ~= ARGV[1] then
  return redis.error_reply('STALE the store is not the one that was opened')
end

local function clock()
  if ARGV[2] ~= '' then return tonumber(ARGV[2]) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Redis writes a number that it is given with 17 digits, which takes longer than most commands: texts are made once.
local function text(number)
  return string.format('%.17g', number)
end

local function later(now, delay)
  local time = now + delay
  return time > 2^53 and END or time
end

-- A table that is made with all its fields is made once; one that gets them one by one grows five times.
local function read(meta)
  local version, state, next_at, space, handler, digest, lease, first_failed, last_failed, stage, outcome, attempts, crashes,
    deliveries, callbacks, owner, err, progress, result, rules = struct.unpack(META, meta)
  local at_error = STRINGS + owner
  local at_progress = at_error + err
  local at_result = at_progress + progress
  local at_rules = at_result + result
  return {version = version, state = state, next_at = next_at, space = space, handler = handler, digest = digest, lease = lease,
    first_failed = first_failed, last_failed = last_failed, stage = stage, outcome = outcome, attempts = attempts,
    crashes = crashes, deliveries = deliveries, callbacks = callbacks, owner = meta:sub(STRINGS, at_error - 1),
    error = meta:sub(at_error, at_progress - 1), progress = meta:sub(at_progress, at_result - 1),
    result = meta:sub(at_result, at_rules - 1), rules = meta:sub(at_rules, at_rules + rules - 1)}
end

local function write(t)
  return struct.pack(META, t.version, t.state, t.next_at, t.space, t.handler, t.digest, t.lease, t.first_failed, t.last_failed,
    t.stage, t.outcome, t.attempts, t.crashes, t.deliveries, t.callbacks, #t.owner, #t.error, #t.progress, #t.result, #t.rules)
    .. t.owner .. t.error .. t.progress .. t.result .. t.rules
end

-- The meta of a task that nothing has happened to.
local function untouched(body)
  local _, next_at, space, handler, digest = struct.unpack('<ddHHc12', body)
  return {version = 1, state = PENDING, space = space, handler = handler, digest = digest, next_at = next_at, lease = 0,
    first_failed = NEVER, last_failed = NEVER, stage = 0, outcome = 0, attempts = 0, crashes = 0, deliveries = 0,
    callbacks = 0, owner = '', error = '', progress = '', result = '', rules = ''}
end

-- What was edited by hand into something shorter is no meta.
local function readable(meta)
  return #meta >= STRINGS - 1
end

-- Whether the task may have waited for a worker all the time that its owner held it.
local function waits(meta, owner)
  return owner > 0 and meta:byte(STRINGS + owner - 1) == WAITING
end

local function member(id, handler)
  return id .. struct.pack('<H', handler)
end

-- Whether there is nothing but a sorted set, or nothing at all.
local function is_set(key)
  return type(redis.pcall('ZCARD', key)) == 'number'
end

local function refuse(key)
  error({err = 'WRONGTYPE ' .. key .. ' holds something else'})
end

-- unpack() takes some thousand values; the slices are even, for pairs.
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
