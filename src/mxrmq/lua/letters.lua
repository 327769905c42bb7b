#!lua
-- Dead letters for an import, the oldest first. They stay in place. The script notes that an import has taken them, so that
-- the next import knows which ones may already be stored. Removes an id without a letter, and the second mention of an id.
-- ARGV  how many of the oldest to skip, how many to return
-- Returns the number of ids read, and for each letter: id, '1' if an earlier import had taken it, json
local passed, most = tonumber(ARGV[FIRST]), tonumber(ARGV[FIRST + 1])
local ids, seen = redis.call('LRANGE', DLQ, -passed - most, -passed - 1), {}
local reply = {#ids}
for i = #ids, 1, -1 do
  local id = ids[i]
  local json = not seen[id] and redis.call('HGET', DLQ_DATA, id)
  if json then
    seen[id] = true
    local before = redis.call('SADD', LETTERS, id) == 0
    for _, value in ipairs({id, before and '1' or '', json}) do reply[#reply + 1] = value end
  else
    redis.call('LREM', DLQ, -1, id)
  end
end
return reply
