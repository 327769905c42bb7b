#!lua flags=allow-oom
-- Leases of tasks that a worker holds end later, or sooner. One that ran out is renewed too, if nobody took the task.
-- KEYS  store, meta; sets of due tasks: for each shard one of each namespace
-- ARGV  incarnation, time, the namespaces' numbers (2 bytes each); for each task: id c8, version d, shard H (by its place among
--       KEYS, from 0), lease d, whether a progress note follows B, the note
-- Gives time, for each task 1 (applied), 0 (it has moved on) or ? (its namespace is not among ARGV), and the numbers of such
--       namespaces
local now, spaces = clock(), ARGV[3]
local space_count, place_of = #spaces / 2, {}
for i = 1, space_count do place_of[spaces:sub(2 * i - 1, 2 * i)] = i end

local ids, current = {}, {}
for i = 4, #ARGV do ids[i - 3] = ARGV[i]:sub(1, 8) end
local metas = ask('HMGET', KEYS[2], ids)
for i, id in ipairs(ids) do current[id] = metas[i] or '' end

local to_due, to_meta, foreign, answers, usable = {}, {}, {}, {}, {}

local function renew(id, version, shard, lease, note)
  local meta = current[id]
  if meta == '' or not readable(meta) then return '0' end
  local t = read(meta)
  if t.version ~= version or t.state ~= RUNNING then return '0' end
  local space = meta:sub(18, 19)
  local place = place_of[space]
  if not place then
    foreign[space] = true
    return '?'
  end
  local key = 2 + shard * space_count + place
  if usable[key] == nil then usable[key] = is_set(KEYS[key]) end
  if not usable[key] then return '0' end
  t.lease = later(now, lease)
  if note then t.progress = note end
  add(to_due, key, text(math.max(t.next_at, t.lease)), member(id, t.handler))
  current[id] = write(t)
  to_meta[#to_meta + 1] = id
  to_meta[#to_meta + 1] = current[id]
  return '1'
end

for i, id in ipairs(ids) do
  local _, version, shard, lease, noted, at = struct.unpack('<c8dHdB', ARGV[i + 3])
  answers[i] = renew(id, version, shard, lease, noted == 1 and ARGV[i + 3]:sub(at) or nil)
end
send_all('ZADD', to_due)
send('HSET', KEYS[2], to_meta)
local names = {}
for space in pairs(foreign) do names[#names + 1] = space end
return {now, table.concat(answers), table.concat(names)}
