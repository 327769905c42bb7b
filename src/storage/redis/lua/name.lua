#!lua
-- Numbers for names, each the same for ever.
-- KEYS  store
-- ARGV  incarnation, time, how many there may be, names
-- Gives time, and for each name its number; 0 where there are too many
local most, last = tonumber(ARGV[3]), tonumber(redis.call('HGET', KEYS[1], 'names') or '0')
local reply = {clock()}
for i = 4, #ARGV do
  local number = tonumber(redis.call('HGET', KEYS[1], 'name:' .. ARGV[i]) or '0')
  if number == 0 and last < most then
    last = redis.call('HINCRBY', KEYS[1], 'names', 1)
    redis.call('HSET', KEYS[1], 'name:' .. ARGV[i], last)
    number = last
  end
  reply[#reply + 1] = number
end
return reply
