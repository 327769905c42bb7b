#!lua
-- An instance says that it lives, if a node is given, and learns who else does. The dead are forgotten.
-- KEYS  store, members of the namespace
-- ARGV  incarnation, time, node, time to live, what it says
-- Gives time, and of each that lives its node, since d, and what it says
local now, node = clock(), ARGV[3]
local all = redis.call('HGETALL', KEYS[2])
local living, dead, since = {}, {}, now
for i = 1, #all, 2 do
  local from, till, at = struct.unpack('<dd', all[i + 1])
  if till <= now then
    dead[#dead + 1] = all[i]
  elseif all[i] == node then
    since = from
  else
    living[#living + 1] = all[i]
    living[#living + 1] = struct.pack('<d', from)
    living[#living + 1] = all[i + 1]:sub(at)
  end
end
if node ~= '' then
  if #dead > 0 then send('HDEL', KEYS[2], dead) end
  redis.call('HSET', KEYS[2], node, struct.pack('<dd', since, later(now, tonumber(ARGV[4]))) .. ARGV[5])
  living[#living + 1] = node
  living[#living + 1] = struct.pack('<d', since)
  living[#living + 1] = ARGV[5]
end
return {now, unpack(living)}
