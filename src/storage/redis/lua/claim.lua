#!lua
-- Gives due tasks to a worker. A claim needs the version that was seen, a due task, and nobody's live lease.
-- KEYS  store, body, meta; sets of due tasks: for each shard one of each namespace
-- ARGV  incarnation, time, owner, lease, the namespaces' numbers (2 bytes each); for all tickets: id c8, version d, shard H
--       (by its place among KEYS, from 0)
-- Gives time, the numbers of namespaces that are not among ARGV but were met (their tasks are left), and of each task that was won
--       id, meta and body
local now, owner = clock(), ARGV[3]
local lease = later(now, tonumber(ARGV[4]))
local lease_text = text(lease)
local spaces, tickets = ARGV[5], ARGV[6]
local space_count, place_of = #spaces / 2, {}
for i = 1, space_count do place_of[spaces:sub(2 * i - 1, 2 * i)] = i end

local ids = {}
for at = 1, #tickets, 18 do ids[#ids + 1] = tickets:sub(at, at + 7) end
local metas, bodies = ask('HMGET', KEYS[3], ids), ask('HMGET', KEYS[2], ids)

-- All but what is the task's own is the same for tasks that nothing has happened to yet.
local first = struct.pack('<dB', 2, RUNNING)
local rest = struct.pack('<dddBBi4i4i4i4HI4I4I4I4', lease, NEVER, NEVER, 0, 0, 1, 0, 1, 0, #owner, 0, 0, 0, 0) .. owner

local function claimed_first(body, version)
  local next_at = struct.unpack('<d', body, 9)
  if version ~= 1 or next_at > now then return nil end
  return first .. body:sub(9, 32) .. rest, next_at
end

local function claimed_again(meta, version)
  if not readable(meta) then return nil end
  local t = read(meta)
  if t.version ~= version or t.version < 1 or t.next_at > now then return nil end
  if t.state == RUNNING then
    if t.lease > now then return nil end
    t.crashes = t.crashes + 1
  elseif t.state ~= PENDING then
    return nil
  elseif t.stage == 0 then
    t.attempts = t.attempts + 1
  else
    t.callbacks = t.callbacks + 1
  end
  t.state, t.version, t.deliveries, t.owner, t.lease = RUNNING, t.version + 1, t.deliveries + 1, owner, lease
  return write(t), t.next_at
end

-- A task may be asked for twice, and the second one meets what the first has made of it.
local changed, to_due, foreign = {}, {}, {}
local won_ids, won_metas, won_bodies, won_keys = {}, {}, {}, {}

local function claim(id, before, body, version, shard)
  local meta, next_at
  if before then meta, next_at = claimed_again(before, version) else meta, next_at = claimed_first(body, version) end
  if not meta then return end
  local space = body:sub(17, 18)
  local place = place_of[space]
  if not place then
    foreign[space] = true
    return
  end
  local key, n = 3 + shard * space_count + place, #won_ids + 1
  add(to_due, key, next_at > lease and text(next_at) or lease_text, id .. body:sub(19, 20))
  won_ids[n], won_metas[n], won_bodies[n], won_keys[n] = id, meta, body, key
  changed[id] = meta
end

for i, id in ipairs(ids) do
  local body = bodies[i]
  if body and #body >= BODY then claim(id, changed[id] or metas[i], body, struct.unpack('<dH', tickets, 18 * i - 9)) end
end

-- Tasks whose set of due ones is something else are left.
for key, values in pairs(to_due) do
  if type(redis.pcall('ZADD', KEYS[key], unpack(values))) ~= 'number' then to_due[key] = false end
end
local names = {}
for space in pairs(foreign) do names[#names + 1] = space end
local to_meta, reply = {}, {now, table.concat(names)}
for i, id in ipairs(won_ids) do
  if to_due[won_keys[i]] then
    to_meta[#to_meta + 1] = id
    to_meta[#to_meta + 1] = won_metas[i]
    reply[#reply + 1] = id
    reply[#reply + 1] = won_metas[i]
    reply[#reply + 1] = won_bodies[i]
  end
end
send('HSET', KEYS[3], to_meta)
return reply
