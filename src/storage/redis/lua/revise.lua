#!lua
-- Gives pending tasks another due time, or other rules. A task that a worker holds, or that has ended, stays as it is.
-- KEYS     store, body, meta; sets of due tasks: for each shard one per namespace
-- ARGV     incarnation, time, the numbers of the namespaces (NamespaceNumber); for each task a Revise, whose shard is a place among
--          those of KEYS, from 0
-- Returns  time; for each task APPLIED, MOVED_ON or UNKNOWN_NAMESPACE; the numbers of unknown namespaces
VALUES(Changed)
local now, namespaces = clock(), ARGV[3]
local namespace_count, place_of = #namespaces / SIZE(NamespaceNumber), {}
for i = 1, namespace_count do place_of[namespaces:sub(BYTES(NamespaceNumber[i]))] = i end

local ids, changed, to_due, to_meta, answers, foreign = {}, {}, {}, {}, {}, {}
for i = 4, #ARGV do ids[i - 3] = ARGV[i]:sub(BYTES(Revise: id)) end
local metas, bodies = ask('HMGET', KEYS[3], ids), ask('HMGET', KEYS[2], ids)

local function revise(id, meta, body, item)
  if not body or #body < SIZE(Body) then return MOVED_ON end
  local t = meta and is_whole(meta) and read(meta) or untouched(body)
  local _, version, shard, moves, delay, at = struct.unpack(FORMAT(Revise), item)
  if t.version ~= version or t.state ~= PENDING then return MOVED_ON end
  local name_space = struct.pack(FORMAT(NamespaceNumber), t.name_space)
  local place = place_of[name_space]
  if not place then
    foreign[name_space] = true
    return UNKNOWN_NAMESPACE
  end
  local due = 3 + shard * namespace_count + place
  if not is_set(KEYS[due]) then refuse(KEYS[due]) end
  t.version = version + 1
  if moves == 1 then t.next_at = later(now, delay) end
  if at <= #item then t.rules = item:sub(at) end
  to_due[#to_due + 1] = {KEYS[due], text(t.next_at), member(id, t.handler)}
  changed[id] = write(t)
  to_meta[#to_meta + 1] = id
  to_meta[#to_meta + 1] = changed[id]
  return APPLIED
end

for i, id in ipairs(ids) do answers[i] = revise(id, changed[id] or metas[i], bodies[i], ARGV[i + 3]) end
for _, place in ipairs(to_due) do redis.call('ZADD', unpack(place)) end
send('HSET', KEYS[3], to_meta)
local names = {}
for name_space in pairs(foreign) do names[#names + 1] = name_space end
return {now, table.concat(answers), table.concat(names)}
