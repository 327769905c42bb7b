#!lua
-- Registers an instance, if ARGV names one, and lists all living instances. Dead ones are removed.
-- KEYS     store, members of the namespace
-- ARGV     incarnation, time, instance, time to live, what it announces
-- Returns  time; for each living instance its name, since when (Heard: since), and what it announces
local now, node = clock(), ARGV[3]
local all = redis.call('HGETALL', KEYS[2])
local living, dead, since = {}, {}, now
for i = 1, #all, 2 do
  local from, till, at = struct.unpack(FORMAT(Heard), all[i + 1])
  if till <= now then
    dead[#dead + 1] = all[i]
  elseif all[i] == node then
    since = from
  else
    living[#living + 1] = all[i]
    living[#living + 1] = struct.pack(FORMAT(Heard: since), from)
    living[#living + 1] = all[i + 1]:sub(at)
  end
end
if node ~= '' then
  if #dead > 0 then send('HDEL', KEYS[2], dead) end
  redis.call('HSET', KEYS[2], node, struct.pack(FORMAT(Heard), since, later(now, tonumber(ARGV[4]))) .. ARGV[5])
  living[#living + 1] = node
  living[#living + 1] = struct.pack(FORMAT(Heard: since), since)
  living[#living + 1] = ARGV[5]
end
return {now, unpack(living)}
