#!lua
-- Dead letters for an import, the oldest first. They stay where they are. It is noted that an import has them in its hands, so that
-- the next one knows which of them may be stored already. An id without a letter goes, and so does a second mention of one.
-- ARGV  how many of the oldest are passed over, how many
-- Gives how many ids were looked at, and of each letter: id, '1' where an import before had it in its hands, json
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
