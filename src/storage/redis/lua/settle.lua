#!lua flags=allow-oom
-- What became of tasks: those that a worker holds (finish, retry, advance, hand back) and those that a user ends (cancel, tell).
-- KEYS  store, body, meta, done; for each namespace keys, counts, ended and dead; sets of due tasks: for each shard one of each
--       namespace
-- ARGV  incarnation, time, the namespaces' numbers (2 bytes each), for each outcome whether it is remembered (0 or 1), how many
--       ended tasks of a namespace are; for each change: id c8, version d, shard H (by its place among KEYS, from 0), kind B,
--       outcome B, stage B, delay d, length of the error I4, error, result
-- Gives time, for each change 1 (applied), 0 (the task has moved on) or ? (its namespace is not among ARGV, nothing was done), and
--       the numbers of such namespaces
--
-- A remembered task is, in `done`: finished d, cancelled B, outcome B, lengths of error and meta I4, error, meta as it was, body.
local FINISH, RETRY, ADVANCE, HAND_BACK, CANCEL, TELL = 0, 1, 2, 3, 4, 5
local SUCCEEDED, CANCELLED = 1, 6
local now = clock()
local now_text = text(now)
local spaces, kept, most = ARGV[3], ARGV[4], tonumber(ARGV[5])
local space_count, place_of = #spaces / 2, {}
for i = 1, space_count do place_of[spaces:sub(2 * i - 1, 2 * i)] = i end
local day = math.floor(now / 86400000)

local ids = {}
for i = 6, #ARGV do ids[i - 5] = ARGV[i]:sub(1, 8) end
local metas, bodies = ask('HMGET', KEYS[3], ids), nil
local current = {}  -- meta by id, as the changes before have left it; false: ended; nil: as it was

-- Bodies are needed only of tasks that end and are remembered, or that nothing has happened to.
local function body_of(i)
  bodies = bodies or ask('HMGET', KEYS[2], ids)
  return bodies[i]
end

local to_due, from_due, from_keys, to_meta, ended_ids, to_done, counts = {}, {}, {}, {}, {}, {}, {}
local to_ended, foreign, answers, checked = {}, {}, {}, {}

local function base(place)
  return 4 + 4 * (place - 1)
end

local function due_key(shard, place)
  return 4 + 4 * space_count + shard * space_count + place
end

-- Nothing may be of a wrong type when the writes begin.
local function check(shard, place)
  local key = due_key(shard, place)
  if checked[key] then return end
  checked[key] = true
  if not is_set(KEYS[key]) then refuse(KEYS[key]) end
  if checked[-place] then return end
  checked[-place] = true
  redis.call('ZCARD', KEYS[base(place) + 1])
  redis.call('HLEN', KEYS[base(place) + 2])
  redis.call('ZCARD', KEYS[base(place) + 3])
  redis.call('ZCARD', KEYS[base(place) + 4])
  redis.call('HLEN', KEYS[4])
end

local function remember(i, id, meta, place, outcome, cancelled, err)
  if not body_of(i) then return end
  to_done[#to_done + 1] = id
  to_done[#to_done + 1] = struct.pack('<dBBI4I4', now, cancelled, outcome, #err, #meta) .. err .. meta .. body_of(i)
  local set = (outcome == SUCCEEDED or outcome == CANCELLED) and 3 or 4
  add(to_ended, base(place) + set, now_text, id)
end

local function finish(i, id, meta, handler, digest, shard, place, outcome, cancelled, err)
  add(from_due, due_key(shard, place), id .. handler)
  add(from_keys, base(place) + 1, digest)
  ended_ids[#ended_ids + 1] = id
  current[id] = false
  local kind = place * 8 + outcome
  local of_kind = counts[kind]
  if not of_kind then
    of_kind = {}
    counts[kind] = of_kind
  end
  of_kind[handler] = (of_kind[handler] or 0) + 1
  if kept:sub(outcome, outcome) == '1' then remember(i, id, meta, place, outcome, cancelled, err) end
end

local texts = {}  -- of times, most of which many share
local function put(id, handler, meta, next_at, shard, place)
  local due = texts[next_at]
  if not due then
    due = text(next_at)
    texts[next_at] = due
  end
  add(to_due, due_key(shard, place), due, id .. handler)
  current[id] = meta
  local size = #to_meta
  to_meta[size + 1], to_meta[size + 2] = id, meta
end

local function change(id, t, shard, place)
  put(id, struct.pack('<H', t.handler), write(t), t.next_at, shard, place)
end

local function note_failure(t, err)
  if err == '' then return end
  if t.first_failed == NEVER then t.first_failed = now end
  t.last_failed, t.error = now, err
end

-- As go_on(), for what happens to most tasks that fail: what stays is copied, and not taken apart.
local function retried(meta, next_at, err)
  local version, _, _, names, _, first, last, counts, owner, before = struct.unpack('<dBdc16dddc18HI4', meta)
  local kept = meta:sub(STRINGS + owner, STRINGS + owner + before - 1)
  if err ~= '' then
    if first == NEVER then first = now end
    last, kept = now, err
  end
  return struct.pack('<dBdc16dddc18HI4', version + 1, PENDING, next_at, names, 0, first, last, counts, 0, #kept)
    .. meta:sub(82, STRINGS - 1) .. kept .. meta:sub(STRINGS + owner + before)
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

local function held(i, meta, version, shard, kind, outcome, stage, delay, err, result)
  if meta == '' or not readable(meta) then return '0' end
  local there, state, _, space, handler, digest = struct.unpack('<dBdc2c2c12', meta)
  if there ~= version or state ~= RUNNING then return '0' end
  local place = place_of[space]
  if not place then
    foreign[space] = true
    return '?'
  end
  check(shard, place)
  if kind == FINISH then
    finish(i, ids[i], meta, handler, digest, shard, place, outcome, 0, err)
  elseif kind == RETRY then
    local next_at = later(now, delay)
    put(ids[i], handler, retried(meta, next_at, err), next_at, shard, place)
  else
    local t = read(meta)
    go_on(t, kind, outcome, stage, delay, err, result)
    change(ids[i], t, shard, place)
  end
  return '1'
end

local function ended_by_hand(i, meta, shard, kind)
  local body = body_of(i)
  if not body or #body < BODY then return '0' end
  if not readable(meta) then meta = '' end
  local place = place_of[body:sub(17, 18)]
  if not place then
    foreign[body:sub(17, 18)] = true
    return '?'
  end
  check(shard, place)
  if kind == CANCEL then
    finish(i, ids[i], meta, body:sub(19, 20), body:sub(21, 32), shard, place, CANCELLED, 1, '')
    return '1'
  end
  local t = meta ~= '' and read(meta) or untouched(body)
  if t.stage ~= 0 then return '0' end
  go_on(t, TELL, 0, 0, 0, '', '')
  change(ids[i], t, shard, place)
  return '1'
end

for i = 1, #ids do
  local item = ARGV[i + 5]
  local version, shard, kind, outcome, stage, delay, length, at = struct.unpack('<dHBBBdI4', item, 9)
  local meta = current[ids[i]]
  if meta == nil then meta = metas[i] or '' end
  if meta == false then
    answers[i] = '0'
  elseif kind == CANCEL or kind == TELL then
    answers[i] = ended_by_hand(i, meta, shard, kind)
  else
    local err = length > 0 and item:sub(at, at + length - 1) or ''
    local result = #item >= at + length and item:sub(at + length) or ''
    answers[i] = held(i, meta, version, shard, kind, outcome, stage, delay, err, result)
  end
end

-- What was changed and then ended in one batch is not due any more.
send_all('ZADD', to_due)
send_all('ZREM', from_due)
send_all('ZREM', from_keys)
send('HSET', KEYS[3], to_meta)
if #ended_ids > 0 then
  send('HSET', KEYS[4], to_done)
  send('HDEL', KEYS[3], ended_ids)
  send('HDEL', KEYS[2], ended_ids)
end
for kind, of_kind in pairs(counts) do
  for handler, times in pairs(of_kind) do
    local field = day .. ' ' .. kind % 8 .. ' ' .. struct.unpack('<H', handler)
    redis.call('HINCRBY', KEYS[base(math.floor(kind / 8)) + 2], field, times)
  end
end
-- A full history makes room, somewhat more than was taken; the rest is left to the keeper.
for key, values in pairs(to_ended) do
  send('ZADD', KEYS[key], values)
  local over = redis.call('ZCARD', KEYS[key]) - most
  if over > 0 then
    local oldest, gone = redis.call('ZPOPMIN', KEYS[key], math.min(over, #values)), {}
    for i = 1, #oldest, 2 do gone[#gone + 1] = oldest[i] end
    send('HDEL', KEYS[4], gone)
  end
end
local names = {}
for space in pairs(foreign) do names[#names + 1] = space end
return {now, table.concat(answers), table.concat(names)}
