#!lua flags=allow-oom
-- Changes when the leases of a worker's tasks end. A lease that has run out is renewed too, if no worker took the task.
-- KEYS     store, meta
-- ARGV     incarnation, time; for each task a Renew
-- Returns  time; for each task APPLIED or MOVED_ON
VALUES(Changed)
local now = clock()
local ids, changed, to_meta, answers = {}, {}, {}, {}
for i = 3, #ARGV do ids[i - 2] = ARGV[i]:sub(BYTES(Renew: id)) end
local metas = ask('HMGET', KEYS[2], ids)

local function renew(id, meta, item)
  if not meta or not is_whole(meta) then return MOVED_ON end
  local t = read(meta)
  local _, version, lease, noted, at = struct.unpack(FORMAT(Renew), item)
  if t.version ~= version or t.state ~= RUNNING then return MOVED_ON end
  t.lease = later(now, lease)
  if noted == 1 then t.progress = item:sub(at) end
  changed[id] = write(t)
  to_meta[#to_meta + 1] = id
  to_meta[#to_meta + 1] = changed[id]
  return APPLIED
end

for i, id in ipairs(ids) do answers[i] = renew(id, changed[id] or metas[i], ARGV[i + 2]) end
send('HSET', KEYS[2], to_meta)
-- WAIT waits for the writes of its own connection. Where nothing was renewed there is this one, and all writes before it.
if #to_meta == 0 then redis.call('HSET', KEYS[1], MET, '1') end
return {now, table.concat(answers)}
