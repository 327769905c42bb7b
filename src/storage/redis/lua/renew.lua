#!lua flags=allow-oom
-- Leases of tasks that a worker holds end later, or sooner. One that ran out is renewed too, if nobody took the task.
-- KEYS  store, meta
-- ARGV  incarnation, time; for each task: id c8, version d, lease d, whether a progress note follows B, the note
-- Gives time, and for each task 1 (applied) or 0 (it has moved on)
local now = clock()
local ids, changed, to_meta, answers = {}, {}, {}, {}
for i = 3, #ARGV do ids[i - 2] = ARGV[i]:sub(1, 8) end
local metas = ask('HMGET', KEYS[2], ids)

local function renew(id, meta, item)
  if not meta or not readable(meta) then return '0' end
  local t = read(meta)
  local _, version, lease, noted, at = struct.unpack('<c8ddB', item)
  if t.version ~= version or t.state ~= RUNNING then return '0' end
  t.lease = later(now, lease)
  if noted == 1 then t.progress = item:sub(at) end
  changed[id] = write(t)
  to_meta[#to_meta + 1] = id
  to_meta[#to_meta + 1] = changed[id]
  return '1'
end

for i, id in ipairs(ids) do answers[i] = renew(id, changed[id] or metas[i], ARGV[i + 2]) end
send('HSET', KEYS[2], to_meta)
-- What WAIT waits for is what its connection has written: where nothing was renewed, this, and with it all that came before.
if #to_meta == 0 then redis.call('HSET', KEYS[1], 'met', '1') end
return {now, table.concat(answers)}
