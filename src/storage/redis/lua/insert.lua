#!lua
-- Stores tasks of different keys, all or none of them; one live task a key.
-- KEYS  store, body, meta, done; for each namespace keys and counts; sets of due tasks; with AGAIN the last one is requeued
-- ARGV  incarnation, time; what the caller takes for the time: bodies were made with it, and it is the due time of most tasks;
--       groups of tasks, those of a namespace together: number of their due set H, of their keys H, how many H;
--       of all tasks the flags B, the ids with their handlers c10, and the upper 53 bits of the ids in 16 digits; for each task its
--       body, with OWN_DUE its due time in digits, and with TEMPLATE a meta: with INITIAL the one it begins with, whose lease is a
--       duration; with UPDATE the new rules of a live one; with AGAIN the id of the ended task that it is to start again
-- Gives time, 'stored' and for each task that met another one: its number I4, the upper bits of the other's id d, version d,
--       next_at d, all 0 where it was to start a task again that is not remembered, or was started again before;
--       or time, 'live', the number of the task that must not meet a live one, and the upper bits of that one's id;
--       or time, 'taken' and the numbers of tasks whose ids somebody has; or time, 'clock' where the caller's is not the
--       server's; then nothing was done.
local REJECT, UPDATE, TEMPLATE, FAILED_NOW, INITIAL, OWN_DUE, AGAIN = 1, 2, 4, 8, 16, 32, 64
-- ms that the caller's clock may be behind: it is by a round trip, however far the server is. Ahead, what is due now could not be
-- claimed at once.
local LATE = 1000
local now, made_at = clock(), ARGV[3]
local behind = now - tonumber(made_at)
if behind < 0 or behind > LATE then return {now, 'clock'} end

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
  ids[i], digests[i], bodies[i] = members:sub(10 * i - 9, 10 * i - 2), body:sub(21, 32), body
  if not plain then
    if has(i, OWN_DUE) then due_at[i] = next_argument() end
    if has(i, TEMPLATE) then templates[i] = next_argument() end
    if has(i, AGAIN) then formers[i] = next_argument() end
    refusable = refusable or has(i, REJECT)
  end
end

-- The namespaces' first and last tasks.
local spaces, last = {}, 0
for place = 1, #groups, 6 do
  local _, keys, count = struct.unpack('<HHH', groups, place)
  if #spaces == 0 or spaces[#spaces].keys ~= keys then spaces[#spaces + 1] = {keys = keys, first = last + 1} end
  last = last + count
  spaces[#spaces].last = last
end

-- The id of 8 bytes: 53 bits, and the first 10 of the digest.
local function id_of(upper, digest)
  local first, second = digest:byte(1, 2)
  local sequence = first * 4 + math.floor(second / 64)
  return struct.pack('>I4I4', math.floor(upper / 2^22), upper % 2^22 * 1024 + sequence)
end

local alive = ask('HMGET', KEYS[2], ids)
local ended = redis.call('HLEN', KEYS[4]) > 0 and ask('HMGET', KEYS[4], ids) or {}
redis.call('HLEN', KEYS[3])
for _, space in ipairs(spaces) do
  redis.call('ZCARD', KEYS[space.keys])
  redis.call('HLEN', KEYS[space.keys + 1])
end

local NOBODY = {}  -- met by what is not to be started again
local live = {}  -- what a task meets
for i, former in pairs(formers) do
  local started = redis.call('HEXISTS', KEYS[#KEYS], former) == 1
  if started or redis.call('HEXISTS', KEYS[4], former) == 0 then live[i] = NOBODY end
end
local function look_for_live(space)
  local of_space = {}
  for i = space.first, space.last do of_space[#of_space + 1] = digests[i] end
  local scores = ask('ZMSCORE', KEYS[space.keys], of_space)
  for i = space.first, space.last do
    local score = scores[i - space.first + 1]
    if score then
      local upper = tonumber(score)
      local there, body = id_of(upper, digests[i]), alive[i]
      if there ~= ids[i] then body = redis.call('HGET', KEYS[2], there) end
      if body and #body >= BODY then live[i] = {id = there, upper = upper, body = body} end
    end
  end
end

-- What may have to be refused is looked at before anything is written.
for i = 1, #ids do refusable = refusable or alive[i] or ended[i] end
if refusable then
  for _, space in ipairs(spaces) do look_for_live(space) end
  local taken = {}
  for i = 1, #ids do
    if live[i] and has(i, REJECT) then return {now, 'live', i, struct.pack('<d', live[i].upper)} end
    if (alive[i] or ended[i]) and not live[i] then taken[#taken + 1] = i end
  end
  if #taken > 0 then return {now, 'taken', unpack(taken)} end
end

local function first_meta(i)
  local meta = read(templates[i])
  meta.rules = ''
  if meta.state == RUNNING then meta.lease = later(now, meta.lease) end
  if has(i, FAILED_NOW) then meta.first_failed, meta.last_failed = now, now end
  return write(meta)
end

local function new_keys(space)
  local values, size = {}, 0
  for i = space.first, space.last do
    if not live[i] then
      values[size + 1], values[size + 2] = uppers:sub(16 * i - 15, 16 * i), digests[i]
      size = size + 2
    end
  end
  return values
end

-- Whether none was there, which is the rule.
local function added_all(space)
  local values, added = new_keys(space), 0
  for from = 1, #values, SLICE do
    local last = math.min(from + SLICE - 1, #values)
    added = added + redis.call('ZADD', KEYS[space.keys], 'NX', unpack(values, from, last))
  end
  return added == #values / 2
end

for _, space in ipairs(spaces) do
  if refusable or not added_all(space) then
    if not refusable then look_for_live(space) end
    send('ZADD', KEYS[space.keys], new_keys(space))
  end
end

-- A set that is none is met by the first write into it: what was written into others is taken back.
local function take_back(written)
  for key, stored in pairs(written) do
    for i = 2, #stored, 2 do redis.call('ZREM', KEYS[key], stored[i]) end
  end
  for _, space in ipairs(spaces) do
    for i = space.first, space.last do
      if not live[i] then redis.call('ZREM', KEYS[space.keys], digests[i]) end
    end
  end
end

local written, to_body, to_meta, put = {}, {}, {}, 0
last = 0
for place = 1, #groups, 6 do
  local due, _, count = struct.unpack('<HHH', groups, place)
  local values, size = {}, 0
  for i = last + 1, last + count do
    if not live[i] then
      values[size + 1], values[size + 2] = due_at[i] or made_at, members:sub(10 * i - 9, 10 * i)
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
for _, space in ipairs(spaces) do
  local counts = {}
  for i = space.first, space.last do
    if not live[i] then
      local low, high = members:byte(10 * i - 1, 10 * i)
      local handler = low + 256 * high
      counts[handler] = (counts[handler] or 0) + 1
    end
  end
  for handler, times in pairs(counts) do
    redis.call('HINCRBY', KEYS[space.keys + 1], day .. ' S ' .. handler, times)
  end
end
send('HSET', KEYS[2], to_body)
send('HSET', KEYS[3], to_meta)
for i, former in pairs(formers) do
  if not live[i] then redis.call('HSET', KEYS[#KEYS], former, ids[i]) end
end

local function meet(i, there)
  if there == NOBODY then return struct.pack('<I4ddd', i, 0, 0, 0) end
  local meta = redis.call('HGET', KEYS[3], there.id)
  local record = meta and readable(meta) and read(meta) or untouched(there.body)
  if has(i, UPDATE) then
    record.rules = read(templates[i]).rules
    redis.call('HSET', KEYS[3], there.id, write(record))
  end
  return struct.pack('<I4ddd', i, there.upper, record.version, record.next_at)
end

local met = {}
for i = 1, #ids do
  if live[i] then met[#met + 1] = meet(i, live[i]) end
end
-- What WAIT waits for is what its connection has written. Where all were there already, that is this, which comes after them.
if #to_body == 0 then redis.call('HSET', KEYS[1], 'met', '1') end
return {now, 'stored', table.concat(met)}
