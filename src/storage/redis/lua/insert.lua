#!lua
-- Stores tasks, all or none of them; one live task a key.
-- KEYS  store, body, meta, done; for each namespace keys and counts; sets of due tasks
-- ARGV  incarnation, time; for each task: head, the rest of its body, and with TEMPLATE a meta: with INITIAL the one it begins
--       with, whose lease is a duration; with UPDATE the new rules of a live one
--       head: id c8, digest c12, space H, handler H, number of its keys H, of its due set H, flags B, absolute B, due d
-- Gives time, 'stored' and for each task: created B, version d, next_at d, and the upper 53 bits of its id d;
--       or time, 'live', the number of the task that must not meet a live one, and the upper bits of that one's id;
--       or time, 'taken' and the numbers of tasks whose ids somebody has; then nothing was done.
local REJECT, UPDATE, TEMPLATE, FAILED_NOW, INITIAL = 1, 2, 4, 8, 16
local now = clock()
local tasks, by_keys, ids, dues = {}, {}, {}, {}

local function has(flags, flag)
  return flags % (2 * flag) >= flag
end

local at = 3
while at <= #ARGV do
  local t = {}
  t.id, t.digest, t.space, t.handler, t.keys, t.due, t.flags, t.absolute, t.next_at = struct.unpack('<c8c12HHHHBBd', ARGV[at])
  t.rest = ARGV[at + 1]
  at = at + 2
  if has(t.flags, TEMPLATE) then
    t.template = ARGV[at]
    at = at + 1
  end
  if t.absolute == 0 then t.next_at = later(now, t.next_at) end
  tasks[#tasks + 1] = t
  ids[#ids + 1] = t.id
  dues[t.due] = true
  local list = by_keys[t.keys]
  if not list then
    list = {}
    by_keys[t.keys] = list
  end
  list[#list + 1] = t
end

-- The id of 8 bytes: 53 bits, and the first 10 of the digest.
local function id_of(upper, digest)
  local first, second = digest:byte(1, 2)
  local sequence = first * 4 + math.floor(second / 64)
  return struct.pack('>I4I4', math.floor(upper / 2^22), upper % 2^22 * 1024 + sequence)
end

local function upper_of(id)
  local high, low = struct.unpack('>I4I4', id)
  return high * 2^22 + math.floor(low / 1024)
end

for key, list in pairs(by_keys) do
  local digests, first = {}, {}
  for i = 1, #list do digests[i] = list[i].digest end
  local scores = ask('ZMSCORE', KEYS[key], digests)
  for i, t in ipairs(list) do
    if scores[i] then
      local upper = tonumber(scores[i])
      local there = id_of(upper, t.digest)
      local body = redis.call('HGET', KEYS[2], there)
      if body and #body >= BODY then t.live = {id = there, upper = upper, body = body} end
    end
    if not t.live then
      t.twin = first[t.digest]
      first[t.digest] = first[t.digest] or t
    end
  end
  redis.call('HLEN', KEYS[key + 1])
end

local bodies, ended = ask('HMGET', KEYS[2], ids), ask('HMGET', KEYS[4], ids)
redis.call('HLEN', KEYS[3])
for due in pairs(dues) do
  if not is_set(KEYS[due]) then refuse(KEYS[due]) end
end
local taken = {}
for i, t in ipairs(tasks) do
  if t.live and has(t.flags, REJECT) then return {now, 'live', i, struct.pack('<d', t.live.upper)} end
  if not t.live and not t.twin and (bodies[i] or ended[i]) then taken[#taken + 1] = i end
end
if #taken > 0 then return {now, 'taken', unpack(taken)} end

local function new_meta(t)
  local meta = read(t.template)
  meta.next_at, meta.rules = t.next_at, ''
  if meta.state == RUNNING then meta.lease = later(now, meta.lease) end
  if has(t.flags, FAILED_NOW) then meta.first_failed, meta.last_failed = now, now end
  return meta
end

local to_due, to_keys, to_body, to_meta, counts, reply = {}, {}, {}, {}, {}, {}
local day = math.floor(now / 86400000)

local function create(t)
  t.version = 1
  local from = t.next_at
  if has(t.flags, INITIAL) then
    local meta = new_meta(t)
    if meta.state == RUNNING then from = math.max(from, meta.lease) end
    to_meta[#to_meta + 1] = t.id
    to_meta[#to_meta + 1] = write(meta)
  end
  add(to_due, t.due, from, member(t.id, t.handler))
  add(to_keys, t.keys, upper_of(t.id), t.digest)
  to_body[#to_body + 1] = t.id
  to_body[#to_body + 1] = struct.pack('<ddHHc12', now, t.next_at, t.space, t.handler, t.digest) .. t.rest
  local count = t.keys * 65536 + t.handler
  counts[count] = (counts[count] or 0) + 1
end

local function meet(t, there)
  local meta = redis.call('HGET', KEYS[3], there.id)
  local record = meta and readable(meta) and read(meta) or untouched(there.body)
  if has(t.flags, UPDATE) then
    record.rules = read(t.template).rules
    redis.call('HSET', KEYS[3], there.id, write(record))
  end
  t.version, t.next_at = record.version, record.next_at
  return there.upper
end

for _, t in ipairs(tasks) do
  if not t.live and not t.twin then create(t) end
end
send_all('ZADD', to_due)
send_all('ZADD', to_keys)
send('HSET', KEYS[2], to_body)
send('HSET', KEYS[3], to_meta)
for count, times in pairs(counts) do
  redis.call('HINCRBY', KEYS[math.floor(count / 65536) + 1], day .. ' S ' .. count % 65536, times)
end

for i, t in ipairs(tasks) do
  local created, upper = 0, nil
  if t.live then
    upper = meet(t, t.live)
  elseif t.twin then
    upper = upper_of(t.twin.id)
    upper = meet(t, {id = t.twin.id, upper = upper, body = redis.call('HGET', KEYS[2], t.twin.id)})
  else
    created, upper = 1, upper_of(t.id)
  end
  reply[i] = struct.pack('<Bddd', created, t.version, t.next_at, upper)
end
return {now, 'stored', table.concat(reply)}
