#!lua flags=no-writes
-- A slice of the fields of payloads, dlq:data or own, without the bodies. As in any scan, a field may be returned twice.
-- ARGV  'payloads', 'dlq' or 'own', cursor, approximate number of fields
-- Returns the next cursor, '0' at the end, and for each field: the id of the message; '' if the field is its body, '1' if it
--       is other data of the message, or '2' if it is other data without a body; the topic, if the field is a topic
local which, cursor, count = unpack(ARGV, FIRST)
local key = ({payloads = PAYLOADS, dlq = DLQ_DATA, own = OWN})[which]
local bodies = which == 'dlq' and DLQ_DATA or PAYLOADS
local slice = redis.call('HSCAN', key, cursor, 'COUNT', count)
local reply, found = {slice[1]}, slice[2]

local function kind_of(id)
  return redis.call('HEXISTS', bodies, id) == 1 and '1' or '2'
end

for i = 1, #found, 2 do
  local id, kind, topic = found[i], '', ''
  if which == 'own' then
    kind = kind_of(id)
  elseif id:sub(-6) == ':queue' then
    id, topic = id:sub(1, -7), found[i + 1]
    kind = kind_of(id)
  end
  for _, value in ipairs({id, kind, topic}) do reply[#reply + 1] = value end
end
return reply
