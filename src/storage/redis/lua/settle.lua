#!lua flags=allow-oom
-- Writes what became of tasks: those that a worker holds (finish, retry, advance, hand back), and those that a user ends (cancel,
-- tell).
-- KEYS     store, body, meta, done; for each namespace keys, counts, ended and dead; sets of due tasks: for each shard one per
--          namespace; requeued
-- ARGV     incarnation, time, the numbers of the namespaces (SpaceNumber), for each outcome whether its tasks are remembered (0 or
--          1), how many ended tasks of a namespace are; the tickets of all changes (Ticket); groups of changes that are alike
--          (SettleGroup), whose shard is a place among those of KEYS, from 0; for each change that has more a SettleMore
-- Returns  time; for each change APPLIED, MOVED_ON or UNKNOWN_SPACE; the numbers of unknown namespaces
--
-- An ended task that makes room for another is removed from `done`, with its mark in `requeued`.
VALUES(SettleKind)
VALUES(OutcomeNumber)
VALUES(Changed)
local now = clock()
local now_text = text(now)
local spaces, kept, most = ARGV[3], ARGV[4], tonumber(ARGV[5])
local space_count, place_of = #spaces / SIZE(SpaceNumber), {}
for i = 1, space_count do place_of[spaces:sub(BYTES(SpaceNumber[i]))] = i end
local day = math.floor(now / 86400000)

local tickets, groups = ARGV[6], ARGV[7]
local ids = {}
for i = 1, #tickets / SIZE(Ticket) do ids[i] = tickets:sub(BYTES(Ticket[i]: id)) end
local metas, bodies = ask('HMGET', KEYS[3], ids), nil
local current = {}  -- id → meta after the changes so far; false: ended; nil: unchanged

-- Bodies are read only for tasks that end and are remembered, and for tasks without a meta.
local function body_of(i)
  bodies = bodies or ask('HMGET', KEYS[2], ids)
  return bodies[i]
end

local to_meta, ended_ids, to_done, foreign, answers = {}, {}, {}, {}, {}

-- The pending writes to a namespace, and to a shard of it. Types are checked here, before the first write.
local of_spaces, of_dues, marks = {}, {}, 0
local function of_space(number)
  local place = place_of[number]
  if not place then
    foreign[number] = true
    return nil
  end
  local keys = 4 * place + 1
  redis.call('ZCARD', KEYS[keys])
  redis.call('HLEN', KEYS[keys + 1])
  redis.call('ZCARD', KEYS[keys + 2])
  redis.call('ZCARD', KEYS[keys + 3])
  redis.call('HLEN', KEYS[4])
  marks = redis.call('HLEN', KEYS[#KEYS])
  of_spaces[number] = {place = place, keys = keys, gone = {}, times = {}, ended = {}, dead = {}}
  return of_spaces[number]
end

local function of_shard(shard, number)
  local space = of_spaces[number] or of_space(number)
  if not space then return nil end
  local due = 4 + 4 * space_count + shard * space_count + space.place
  if not of_dues[due] then
    if not is_set(KEYS[due]) then refuse(KEYS[due]) end
    of_dues[due] = {space = space, put = {}, gone = {}}
  end
  return of_dues[due]
end

local function remember(i, id, meta, space, outcome, cancelled, err)
  if not body_of(i) then return end
  to_done[#to_done + 1] = id
  to_done[#to_done + 1] = struct.pack(FORMAT(Done), now, cancelled, outcome, #err, #meta) .. err .. meta .. body_of(i)
  local set = (outcome == SUCCEEDED or outcome == CANCELLED) and space.ended or space.dead
  set[#set + 1] = now_text
  set[#set + 1] = id
end

local function finish(i, id, meta, handler, digest, there, outcome, cancelled, err)
  local space = there.space
  there.gone[#there.gone + 1] = id .. handler
  space.gone[#space.gone + 1] = digest
  ended_ids[#ended_ids + 1] = id
  current[id] = false
  local times = space.times[outcome] or {}
  space.times[outcome] = times
  times[handler] = (times[handler] or 0) + 1
  if kept:sub(outcome, outcome) == '1' then remember(i, id, meta, space, outcome, cancelled, err) end
end

-- A table that computes the entry of a value once. Many tasks share their values.
local function made_once(make)
  return setmetatable({}, {__index = function(all, value)
    local made = make(value)
    all[value] = made
    return made
  end})
end

local texts = made_once(text)
local function put(id, handler, meta, next_at, there)
  local size = #there.put
  there.put[size + 1], there.put[size + 2] = texts[next_at], id .. handler
  current[id] = meta
  size = #to_meta
  to_meta[size + 1], to_meta[size + 2] = id, meta
end

local function change(id, t, there)
  put(id, struct.pack(FORMAT(Due: handler), t.handler), write(t), t.next_at, there)
end

local function note_failure(t, err)
  if err == '' then return end
  if t.first_failed == NEVER then t.first_failed = now end
  t.last_failed, t.error = now, err
end

-- Like go_on(), for the most frequent change after a failure: bytes that stay are copied without unpacking them.
local beginnings = made_once(function(version) return struct.pack(FORMAT(Meta: version state), version + 1, PENDING) end)
local times = made_once(function(time) return struct.pack(FORMAT(Meta: next_at), time) end)
local lengths = made_once(function(length) return struct.pack(FORMAT(Meta: owner_size error_size), 0, length) end)
local function retried(meta, version, next_at, err)
  local owner, length = struct.unpack(FORMAT(Meta: owner_size error_size), meta, AT(Meta: owner_size))
  local at_error = STRINGS + owner
  local first, last, kept = meta:sub(BYTES(Meta: first_failed)), times[now], err
  if err == '' then
    last, kept = meta:sub(BYTES(Meta: last_failed)), meta:sub(at_error, at_error + length - 1)
  elseif first == times[NEVER] then
    first = last
  end
  return beginnings[version] .. times[next_at] .. meta:sub(BYTES(Meta: space..digest)) .. times[0] .. first .. last
    .. meta:sub(BYTES(Meta: stage..callbacks)) .. lengths[#kept] .. meta:sub(BYTES(Meta: progress_size..rules_size)) .. kept
    .. meta:sub(at_error + length)
end

local function go_on(t, kind, outcome, stage, delay, err, result)
  t.version, t.state, t.owner, t.lease = t.version + 1, PENDING, '', 0
  note_failure(t, err)
  if kind == ADVANCE then
    t.stage, t.outcome, t.result, t.next_at = stage, outcome, result, later(now, delay)
  elseif kind == HAND_BACK then
    if t.stage == 0 then t.attempts = t.attempts - 1 else t.callbacks = t.callbacks - 1 end
    if delay > 0 then t.next_at = math.max(t.next_at, later(now, delay)) end
  else
    t.outcome, t.stage, t.next_at = CANCELLED, 2, now
  end
end

local function held(i, meta, shard, kind, outcome, stage, delay, err, result)
  if not is_whole(meta) then return MOVED_ON end
  local version, state, _, space, handler =
    struct.unpack(FORMAT(Meta: version state next_at space..space handler..handler), meta)
  local expected = struct.unpack(FORMAT(Ticket: version), tickets, AT(Ticket[i]: version))
  if version ~= expected or state ~= RUNNING then return MOVED_ON end
  local there = of_shard(shard, space)
  if not there then return UNKNOWN_SPACE end
  if kind == FINISH then
    finish(i, ids[i], meta, handler, meta:sub(BYTES(Meta: digest)), there, outcome, 0, err)
  elseif kind == RETRY then
    local next_at = later(now, delay)
    put(ids[i], handler, retried(meta, version, next_at, err), next_at, there)
  else
    local t = read(meta)
    go_on(t, kind, outcome, stage, delay, err, result)
    change(ids[i], t, there)
  end
  return APPLIED
end

local function ended_by_user(i, meta, shard, kind)
  local body = body_of(i)
  if not body or #body < SIZE(Body) then return MOVED_ON end
  if not is_whole(meta) then meta = '' end
  local there = of_shard(shard, body:sub(BYTES(Body: space)))
  if not there then return UNKNOWN_SPACE end
  if kind == CANCEL then
    finish(i, ids[i], meta, body:sub(BYTES(Body: handler)), body:sub(BYTES(Body: digest)), there, CANCELLED, 1, '')
    return APPLIED
  end
  local t = meta ~= '' and read(meta) or untouched(body)
  if t.stage ~= 0 then return MOVED_ON end
  go_on(t, TELL, 0, 0, 0, '', '')
  change(ids[i], t, there)
  return APPLIED
end

local function settle(i, shard, kind, outcome, stage, delay, err, result)
  local meta = current[ids[i]]
  if meta == nil then meta = metas[i] or '' end
  if not meta then return MOVED_ON end
  if kind == CANCEL or kind == TELL then return ended_by_user(i, meta, shard, kind) end
  return held(i, meta, shard, kind, outcome, stage, delay, err, result)
end

local i, at = 0, 8
for place = 1, #groups, SIZE(SettleGroup) do
  local shard, kind, outcome, stage, has_more, count = struct.unpack(FORMAT(SettleGroup), groups, place)
  for _ = 1, count do
    i = i + 1
    local delay, err, result = 0, '', ''
    if has_more == 1 then
      local length, from
      delay, length, from = struct.unpack(FORMAT(SettleMore), ARGV[at])
      err, result = ARGV[at]:sub(from, from + length - 1), ARGV[at]:sub(from + length)
      at = at + 1
    end
    answers[i] = settle(i, shard, kind, outcome, stage, delay, err, result)
  end
end

-- ZREM comes last: a task that was changed and then ended in one batch is not due any more.
for due, there in pairs(of_dues) do
  send('ZADD', KEYS[due], there.put)
  send('ZREM', KEYS[due], there.gone)
end
send('HSET', KEYS[3], to_meta)
send('HSET', KEYS[4], to_done)
send('HDEL', KEYS[3], ended_ids)
send('HDEL', KEYS[2], ended_ids)

-- A full history drops its oldest tasks, at most two for each new one; trim.lua removes the rest.
local function add_to_history(key, values)
  if #values == 0 then return end
  send('ZADD', key, values)
  local over = redis.call('ZCARD', key) - most
  if over > 0 then
    local oldest, gone = redis.call('ZPOPMIN', key, math.min(over, #values)), {}
    for place = 1, #oldest, 2 do gone[#gone + 1] = oldest[place] end
    send('HDEL', KEYS[4], gone)
    if marks > 0 then send('HDEL', KEYS[#KEYS], gone) end
  end
end

for _, space in pairs(of_spaces) do
  send('ZREM', KEYS[space.keys], space.gone)
  for outcome, of_outcome in pairs(space.times) do
    for handler, count in pairs(of_outcome) do
      local field = day .. ' ' .. outcome .. ' ' .. struct.unpack(FORMAT(Due: handler), handler)
      redis.call('HINCRBY', KEYS[space.keys + 1], field, count)
    end
  end
  add_to_history(KEYS[space.keys + 2], space.ended)
  add_to_history(KEYS[space.keys + 3], space.dead)
end
local names = {}
for space in pairs(foreign) do names[#names + 1] = space end
return {now, table.concat(answers), table.concat(names)}
