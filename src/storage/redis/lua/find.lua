#!lua flags=no-writes,allow-oom
-- Tasks as they are at one moment, live or remembered.
-- KEYS  store, body, meta, done, requeued
-- ARGV  incarnation, time, ids of 8 bytes in one string
-- Gives time, and for each id its body, meta, what is remembered of it, and the id it was started again as; nil where there is none
local ids = {}
for at = 1, #ARGV[3], 8 do ids[#ids + 1] = ARGV[3]:sub(at, at + 7) end
local bodies, metas, done = ask('HMGET', KEYS[2], ids), ask('HMGET', KEYS[3], ids), ask('HMGET', KEYS[4], ids)
local marks = redis.call('HLEN', KEYS[5]) > 0 and ask('HMGET', KEYS[5], ids) or {}
local reply = {clock()}
for i = 1, #ids do
  reply[#reply + 1] = bodies[i]
  reply[#reply + 1] = metas[i]
  reply[#reply + 1] = done[i]
  reply[#reply + 1] = marks[i] or false
end
return reply
