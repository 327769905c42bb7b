#!lua flags=allow-oom
-- Writes what became of tasks: those that a worker holds (finish, forget, retry, advance, hand back), and those that a user ends.
-- KEYS     store, body, meta, done; for each namespace keys, counts, ended and dead; sets of due tasks: for each shard one per
--          namespace; requeued, results, results_until
-- ARGV     incarnation, time, the numbers of the namespaces (NamespaceNumber), for each outcome whether its tasks are remembered (0 or
--          1), how many ended tasks of a namespace are; the tickets of all changes (Ticket); groups of changes that are alike
--          (SettleGroup), whose shard is a place among those of KEYS, from 0; for each change that has more a SettleMore
-- Returns  time; for each change APPLIED, MOVED_ON or UNKNOWN_NAMESPACE; the numbers of unknown namespaces
--
-- An ended task that makes room for another is removed from `done`, with its mark in `requeued` and its result.
VALUES(SettleKind)
VALUES(OutcomeNumber)
VALUES(Changed)
local now = clock()
local now_text = text(now)
local namespaces, kept, most = ARGV[3], ARGV[4], tonumber(ARGV[5])
local namespace_count, place_of = #namespaces / SIZE(NamespaceNumber), {}
for i = 1, namespace_count do place_of[namespaces:sub(BYTES(NamespaceNumber[i]))] = i end
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
local of_namespaces, of_dues, marks, kept_results = {}, {}, 0, 0
local requeued, results, results_until = KEYS[#KEYS - 2], KEYS[#KEYS - 1], KEYS[#KEYS]
local to_results, to_results_until = {}, {}
local function of_namespace(number)
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
  marks, kept_results = redis.call('HLEN', requeued), redis.call('HLEN', results)
  of_namespaces[number] = {place = place, keys = keys, gone = {}, times = {}, ended = {}, dead = {}}
  return of_namespaces[number]
end

local function of_shard(shard, number)
  local name_space = of_namespaces[number] or of_namespace(number)
  if not name_space then return nil end
  local due = 4 + 4 * namespace_count + shard * namespace_count + name_space.place
  if not of_dues[due] then
    if not is_set(KEYS[due]) then refuse(KEYS[due]) end
    of_dues[due] = {name_space = name_space, put = {}, gone = {}}
  end
  return of_dues[due]
end

local function keep_result(id, keep, result)
  if keep <= 0 or result == '' then return end
  if not is_set(results_until) then refuse(results_until) end
  local size = #to_results
  to_results[size + 1], to_results[size + 2] = id, result
  to_results_until[size + 1], to_results_until[size + 2] = text(later(now, keep)), id
end

local function remember(i, id, meta, name_space, outcome, by_user, err, keep, result)
  if not body_of(i) then return end
  keep_result(id, keep, result)
  to_done[#to_done + 1] = id
  to_done[#to_done + 1] = struct.pack(FORMAT(Done), now, by_user, outcome, #err, #meta) .. err .. meta .. body_of(i)
  local set = (outcome == SUCCEEDED or outcome == CANCELLED) and name_space.ended or name_space.dead
  set[#set + 1] = now_text
  set[#set + 1] = id
end

-- `remembered`: false leaves no history. `keep` and `result`: see keep_result.
local function finish(i, id, meta, handler, digest, there, outcome, by_user, err, remembered, keep, result)
  local name_space = there.name_space
  there.gone[#there.gone + 1] = id .. handler
  name_space.gone[#name_space.gone + 1] = digest
  ended_ids[#ended_ids + 1] = id
  current[id] = false
  local times = name_space.times[outcome] or {}
  name_space.times[outcome] = times
  times[handler] = (times[handler] or 0) + 1
  if remembered and kept:sub(outcome, outcome) == '1' then
    remember(i, id, meta, name_space, outcome, by_user, err, keep, result)
  end
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
  return beginnings[version] .. times[next_at] .. meta:sub(BYTES(Meta: name_space..digest)) .. times[0] .. first .. last
    .. meta:sub(BYTES(Meta: stage..callbacks)) .. lengths[#kept] .. meta:sub(BYTES(Meta: progress_size..rules_size)) .. kept
    .. meta:sub(at_error + length)
end

local function go_on(t, kind, outcome, stage, delay, err, attempt, result)
  t.version, t.state, t.owner, t.lease = t.version + 1, PENDING, '', 0
  note_failure(t, err)
  t.log = with_attempt(t.log, attempt)
  if kind == ADVANCE then
    t.stage, t.outcome, t.result, t.next_at = stage, outcome, result, later(now, delay)
  else
    if t.stage == 0 then t.attempts = t.attempts - 1 else t.callbacks = t.callbacks - 1 end
    if delay > 0 then t.next_at = math.max(t.next_at, later(now, delay)) end
  end
end

local function held(i, meta, shard, kind, outcome, stage, delay, err, attempt, result)
  if not is_whole(meta) then return MOVED_ON end
  local version, state, _, name_space, handler =
    struct.unpack(FORMAT(Meta: version state next_at name_space..name_space handler..handler), meta)
  local expected = struct.unpack(FORMAT(Ticket: version), tickets, AT(Ticket[i]: version))
  if version ~= expected or state ~= RUNNING then return MOVED_ON end
  local there = of_shard(shard, name_space)
  if not there then return UNKNOWN_NAMESPACE end
  if kind == FINISH or kind == FORGET then
    local digest = meta:sub(BYTES(Meta: digest))
    finish(i, ids[i], noted(meta, attempt), handler, digest, there, outcome, 0, err, kind == FINISH, delay, result)
  elseif kind == RETRY then
    local next_at = later(now, delay)
    put(ids[i], handler, retried(noted(meta, attempt), version, next_at, err), next_at, there)
  else
    local t = read(meta)
    go_on(t, kind, outcome, stage, delay, err, attempt, result)
    change(ids[i], t, there)
  end
  return APPLIED
end

-- A cancellation without a callback overrules an outcome whose callback is due. The same outcome ends such a task if it names a stage:
-- then its callback is dropped.
local function ended_by_user(i, meta, shard, kind, outcome, stage, keep, err, result)
  local body = body_of(i)
  if not body or #body < SIZE(Body) then return MOVED_ON end
  if not is_whole(meta) then meta = '' end
  local there = of_shard(shard, body:sub(BYTES(Body: name_space)))
  if not there then return UNKNOWN_NAMESPACE end
  local t = meta ~= '' and read(meta) or untouched(body)
  local agrees = stage ~= 0 and outcome == t.outcome
  if t.stage ~= 0 and (kind == END_AND_TELL or not (outcome == CANCELLED or agrees)) then return MOVED_ON end
  if kind == END then
    local handler, digest = body:sub(BYTES(Body: handler)), body:sub(BYTES(Body: digest))
    finish(i, ids[i], meta, handler, digest, there, outcome, 1, err, true, keep, result)
  else
    go_on(t, ADVANCE, outcome, stage, 0, err, '', result)
    change(ids[i], t, there)
  end
  return APPLIED
end

local function settle(i, shard, kind, outcome, stage, delay, err, attempt, result)
  local meta = current[ids[i]]
  if meta == nil then meta = metas[i] or '' end
  if not meta then return MOVED_ON end
  if kind == END or kind == END_AND_TELL then
    return ended_by_user(i, meta, shard, kind, outcome, stage, delay, err, result)
  end
  return held(i, meta, shard, kind, outcome, stage, delay, err, attempt, result)
end

local i, at = 0, 8
for place = 1, #groups, SIZE(SettleGroup) do
  local shard, kind, outcome, stage, has_more, count = struct.unpack(FORMAT(SettleGroup), groups, place)
  for _ = 1, count do
    i = i + 1
    local delay, err, attempt, result = 0, '', '', ''
    if has_more == 1 then
      local length, attempt_length, from
      delay, length, attempt_length, from = struct.unpack(FORMAT(SettleMore), ARGV[at])
      local at_attempt, at_result = from + length, from + length + attempt_length
      err, attempt = ARGV[at]:sub(from, at_attempt - 1), ARGV[at]:sub(at_attempt, at_result - 1)
      result = ARGV[at]:sub(at_result)
      at = at + 1
    end
    answers[i] = settle(i, shard, kind, outcome, stage, delay, err, attempt, result)
  end
end

-- ZREM comes last: a task that was changed and then ended in one batch is not due any more.
for due, there in pairs(of_dues) do
  send('ZADD', KEYS[due], there.put)
  send('ZREM', KEYS[due], there.gone)
end
send('HSET', KEYS[3], to_meta)
send('HSET', KEYS[4], to_done)
send('HSET', results, to_results)
send('ZADD', results_until, to_results_until)
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
    if marks > 0 then send('HDEL', requeued, gone) end
    if kept_results > 0 then
      send('HDEL', results, gone)
      send('ZREM', results_until, gone)
    end
  end
end

for _, name_space in pairs(of_namespaces) do
  send('ZREM', KEYS[name_space.keys], name_space.gone)
  for outcome, of_outcome in pairs(name_space.times) do
    for handler, count in pairs(of_outcome) do
      local field = day .. ' ' .. outcome .. ' ' .. struct.unpack(FORMAT(Due: handler), handler)
      redis.call('HINCRBY', KEYS[name_space.keys + 1], field, count)
    end
  end
  add_to_history(KEYS[name_space.keys + 2], name_space.ended)
  add_to_history(KEYS[name_space.keys + 3], name_space.dead)
end
local names = {}
for name_space in pairs(foreign) do names[#names + 1] = name_space end
return {now, table.concat(answers), table.concat(names)}
