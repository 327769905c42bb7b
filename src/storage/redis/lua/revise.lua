#!lua
-- Tasks that wait become due at another time, or go on by other rules. What a worker holds, or has ended, is left alone.
-- KEYS  store, body, meta; sets of due tasks: for each shard one of each namespace
-- ARGV  incarnation, time, the namespaces' numbers (2 bytes each); for each task: id c8, version d, shard H (by its place among
--       KEYS, from 0), whether its due time changes B, delay d, its new rules; none: as they were
-- Gives time, for each task 1 (applied), 0 (it has moved on) or ? (its namespace is not among ARGV, nothing was done), and the
--       numbers of such namespaces
local now, spaces = clock(), ARGV[3]
local space_count, place_of = #spaces / 2, {}
for i = 1, space_count do place_of[spaces:sub(2 * i - 1, 2 * i)] = i end

local ids, changed, to_due, to_meta, answers, foreign = {}, {}, {}, {}, {}, {}
for i = 4, #ARGV do ids[i - 3] = ARGV[i]:sub(1, 8) end
local metas, bodies = ask('HMGET', KEYS[3], ids), ask('HMGET', KEYS[2], ids)

local function revise(id, meta, body, item)
  if not body or #body < BODY then return '0' end
  local t = meta and readable(meta) and read(meta) or untouched(body)
  local _, version, shard, moves, delay, at = struct.unpack('<c8dHBd', item)
  if t.version ~= version or t.state ~= PENDING then return '0' end
  local space = struct.pack('<H', t.space)
  local place = place_of[space]
  if not place then
    foreign[space] = true
    return '?'
  end
  local due = 3 + shard * space_count + place
  if not is_set(KEYS[due]) then refuse(KEYS[due]) end
  t.version = version + 1
  if moves == 1 then t.next_at = later(now, delay) end
  if at <= #item then t.rules = item:sub(at) end
  to_due[#to_due + 1] = {KEYS[due], text(t.next_at), member(id, t.handler)}
  changed[id] = write(t)
  to_meta[#to_meta + 1] = id
  to_meta[#to_meta + 1] = changed[id]
  return '1'
end

for i, id in ipairs(ids) do answers[i] = revise(id, changed[id] or metas[i], bodies[i], ARGV[i + 3]) end
for _, place in ipairs(to_due) do redis.call('ZADD', unpack(place)) end
send('HSET', KEYS[3], to_meta)
local names = {}
for space in pairs(foreign) do names[#names + 1] = space end
return {now, table.concat(answers), table.concat(names)}
