#!lua
-- Numbers names. A name keeps its number for ever.
-- KEYS     store
-- ARGV     incarnation, time, how many names there may be, names
-- Returns  time; for each name its number, or 0 if there are too many
local most, last = tonumber(ARGV[3]), tonumber(redis.call('HGET', KEYS[1], NAMES) or '0')
local reply = {clock()}
for i = 4, #ARGV do
  local number = tonumber(redis.call('HGET', KEYS[1], NAME_PREFIX .. ARGV[i]) or '0')
  if number == 0 and last < most then
    last = redis.call('HINCRBY', KEYS[1], NAMES, 1)
    redis.call('HSET', KEYS[1], NAME_PREFIX .. ARGV[i], last)
    number = last
  end
  reply[#reply + 1] = number
end
return reply
