#!lua flags=no-writes,allow-oom
-- Reads tasks, live or ended, at one moment.
-- KEYS     store, body, meta, done, requeued, results
-- ARGV     incarnation, time, ids (Id)
-- Returns  time; for each id its body, its meta, its record in `done`, the id it was requeued as, and its result if that is kept;
--          nil for what there is not
local ids = {}
for i = 1, #ARGV[3] / SIZE(Id) do ids[i] = ARGV[3]:sub(BYTES(Id[i])) end
local bodies, metas, done = ask('HMGET', KEYS[2], ids), ask('HMGET', KEYS[3], ids), ask('HMGET', KEYS[4], ids)
local marks = redis.call('HLEN', KEYS[5]) > 0 and ask('HMGET', KEYS[5], ids) or {}
local results = redis.call('HLEN', KEYS[6]) > 0 and ask('HMGET', KEYS[6], ids) or {}
local reply = {clock()}
for i = 1, #ids do
  reply[#reply + 1] = bodies[i]
  reply[#reply + 1] = metas[i]
  reply[#reply + 1] = done[i]
  reply[#reply + 1] = marks[i] or false
  reply[#reply + 1] = results[i] or false
end
return reply
