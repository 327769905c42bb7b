#!lua
-- Stores tasks of different keys, all or none of them. There is one live task per key.
-- KEYS     store, body, meta, done; for each namespace keys and counts; sets of due tasks; with AGAIN the last one is requeued
-- ARGV     incarnation, time; the time as the caller estimates it: it is in the bodies, and most tasks are due at it;
--          groups of tasks (InsertGroup), those of a namespace together; of all tasks the flags, one byte each, the members of due
--          sets (Due), and the upper 53 bits of the ids (UpperDigits); for each task its body, with OWN_DUE its due time in digits,
--          and with HAS_TEMPLATE a meta. With INITIAL the task begins with this meta, whose lease is a duration; with UPDATE a live
--          task gets its rules. With AGAIN follows the id of the ended task to requeue
-- Returns  time, STORED, and a Met for each task whose key is live; all 0 for a task to requeue that is not remembered or was
--          requeued before. If nothing was stored: time, LIVE, the number of a task with REJECT whose key is live, and the upper
--          bits of the live task's id; or time, TAKEN, and the numbers of tasks whose ids are taken; or time, CLOCK_DIFFERS
VALUES(InsertFlag)
VALUES(InsertAnswer)
VALUES(CountKind)
-- ms that the caller's clock may be behind: it is behind by a round trip. If it were ahead, a task that is due now could not be
-- claimed at once.
local LATE = 1000
local now, made_at = clock(), ARGV[3]
local behind = now - tonumber(made_at)
if behind < 0 or behind > LATE then return {now, CLOCK_DIFFERS} end

local groups, flags, members, uppers = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local ids, digests, bodies, due_at, templates, formers = {}, {}, {}, {}, {}, {}
local plain, refusable = not flags:find('[^%z]'), false

local function has(i, flag)
  return flags:byte(i) % (2 * flag) >= flag
end

local at = 8
local function next_argument()
  at = at + 1
  return ARGV[at - 1]
end

for i = 1, #flags do
  local body = next_argument()
  ids[i], digests[i], bodies[i] = members:sub(BYTES(Due[i]: id)), body:sub(BYTES(Body: digest)), body
  if not plain then
    if has(i, OWN_DUE) then due_at[i] = next_argument() end
    if has(i, HAS_TEMPLATE) then templates[i] = next_argument() end
    if has(i, AGAIN) then formers[i] = next_argument() end
    refusable = refusable or has(i, REJECT)
  end
end

-- The first and the last task of each namespace.
local namespaces, last = {}, 0
for place = 1, #groups, SIZE(InsertGroup) do
  local _, keys, count = struct.unpack(FORMAT(InsertGroup), groups, place)
  if #namespaces == 0 or namespaces[#namespaces].keys ~= keys then namespaces[#namespaces + 1] = {keys = keys, first = last + 1} end
  last = last + count
  namespaces[#namespaces].last = last
end

-- An id has 53 upper bits, and the first 10 bits of the digest.
local function id_of(upper, digest)
  local first, second = digest:byte(1, 2)
  local sequence = first * 4 + math.floor(second / 64)
  return struct.pack(FORMAT(Id), math.floor(upper / 2^22), upper % 2^22 * 1024 + sequence)
end

local alive = ask('HMGET', KEYS[2], ids)
local ended = redis.call('HLEN', KEYS[4]) > 0 and ask('HMGET', KEYS[4], ids) or {}
redis.call('HLEN', KEYS[3])
for _, name_space in ipairs(namespaces) do
  redis.call('ZCARD', KEYS[name_space.keys])
  redis.call('HLEN', KEYS[name_space.keys + 1])
end

local NOTHING = {}  -- in `live`: this task must not be requeued
local live = {}  -- by number: the live task with the same key
for i, former in pairs(formers) do
  local started = redis.call('HEXISTS', KEYS[#KEYS], former) == 1
  if started or redis.call('HEXISTS', KEYS[4], former) == 0 then live[i] = NOTHING end
end
local function look_for_live(name_space)
  local of_namespace = {}
  for i = name_space.first, name_space.last do of_namespace[#of_namespace + 1] = digests[i] end
  local scores = ask('ZMSCORE', KEYS[name_space.keys], of_namespace)
  for i = name_space.first, name_space.last do
    local score = scores[i - name_space.first + 1]
    if score then
      local upper = tonumber(score)
      local there, body = id_of(upper, digests[i]), alive[i]
      if there ~= ids[i] then body = redis.call('HGET', KEYS[2], there) end
      if body and #body >= SIZE(Body) then live[i] = {id = there, upper = upper, body = body} end
    end
  end
end

-- A batch that may have to be refused is checked before anything is written.
for i = 1, #ids do refusable = refusable or alive[i] or ended[i] end
if refusable then
  for _, name_space in ipairs(namespaces) do look_for_live(name_space) end
  local taken = {}
  for i = 1, #ids do
    if live[i] and has(i, REJECT) then return {now, LIVE, i, struct.pack(FORMAT(Met: upper), live[i].upper)} end
    if (alive[i] or ended[i]) and not live[i] then taken[#taken + 1] = i end
  end
  if #taken > 0 then return {now, TAKEN, unpack(taken)} end
end

local function first_meta(i)
  local meta = read(templates[i])
  meta.rules = ''
  if meta.state == RUNNING then meta.lease = later(now, meta.lease) end
  if has(i, FAILED_NOW) then meta.first_failed, meta.last_failed = now, now end
  return write(meta)
end

local function new_keys(name_space)
  local values, size = {}, 0
  for i = name_space.first, name_space.last do
    if not live[i] then
      values[size + 1], values[size + 2] = uppers:sub(BYTES(UpperDigits[i])), digests[i]
      size = size + 2
    end
  end
  return values
end

-- Whether all keys were new, as they usually are.
local function added_all(name_space)
  local values, added = new_keys(name_space), 0
  for from = 1, #values, SLICE do
    local last = math.min(from + SLICE - 1, #values)
    added = added + redis.call('ZADD', KEYS[name_space.keys], 'NX', unpack(values, from, last))
  end
  return added == #values / 2
end

for _, name_space in ipairs(namespaces) do
  if refusable or not added_all(name_space) then
    if not refusable then look_for_live(name_space) end
    send('ZADD', KEYS[name_space.keys], new_keys(name_space))
  end
end

-- A key that holds no sorted set is found by the first write into it. Then the writes into other sets are undone.
local function take_back(written)
  for key, stored in pairs(written) do
    for i = 2, #stored, 2 do redis.call('ZREM', KEYS[key], stored[i]) end
  end
  for _, name_space in ipairs(namespaces) do
    for i = name_space.first, name_space.last do
      if not live[i] then redis.call('ZREM', KEYS[name_space.keys], digests[i]) end
    end
  end
end

local written, to_body, to_meta, put = {}, {}, {}, 0
last = 0
for place = 1, #groups, SIZE(InsertGroup) do
  local due, _, count = struct.unpack(FORMAT(InsertGroup), groups, place)
  local values, size = {}, 0
  for i = last + 1, last + count do
    if not live[i] then
      values[size + 1], values[size + 2] = due_at[i] or made_at, members:sub(BYTES(Due[i]))
      to_body[put + 1], to_body[put + 2] = ids[i], bodies[i]
      size, put = size + 2, put + 2
      if templates[i] and has(i, INITIAL) then
        to_meta[#to_meta + 1] = ids[i]
        to_meta[#to_meta + 1] = first_meta(i)
      end
    end
  end
  last = last + count
  for from = 1, size, SLICE do
    local added = redis.pcall('ZADD', KEYS[due], unpack(values, from, math.min(from + SLICE - 1, size)))
    if type(added) ~= 'number' then
      take_back(written)
      refuse(KEYS[due])
    end
    written[due] = values
  end
end

local day = math.floor(now / 86400000)
local STORED_OF = ' ' .. STORED_TASKS .. ' '
for _, name_space in ipairs(namespaces) do
  local counts = {}
  for i = name_space.first, name_space.last do
    if not live[i] then
      local low, high = members:byte(BYTES(Due[i]: handler))
      local handler = low + 256 * high
      counts[handler] = (counts[handler] or 0) + 1
    end
  end
  for handler, times in pairs(counts) do
    redis.call('HINCRBY', KEYS[name_space.keys + 1], day .. STORED_OF .. handler, times)
  end
end
send('HSET', KEYS[2], to_body)
send('HSET', KEYS[3], to_meta)
for i, former in pairs(formers) do
  if not live[i] then redis.call('HSET', KEYS[#KEYS], former, ids[i]) end
end

local function met_by(i, there)
  if there == NOTHING then return struct.pack(FORMAT(Met), i, 0, 0, 0) end
  local meta = redis.call('HGET', KEYS[3], there.id)
  local record = meta and is_whole(meta) and read(meta) or untouched(there.body)
  if has(i, UPDATE) then
    record.rules = read(templates[i]).rules
    redis.call('HSET', KEYS[3], there.id, write(record))
  end
  return struct.pack(FORMAT(Met), i, there.upper, record.version, record.next_at)
end

local met = {}
for i = 1, #ids do
  if live[i] then met[#met + 1] = met_by(i, live[i]) end
end
-- WAIT waits for the writes of its own connection. Where no task is new, there is this one, which comes after those of the live
-- tasks.
if #to_body == 0 then redis.call('HSET', KEYS[1], MET, '1') end
return {now, STORED, table.concat(met)}
