#!lua flags=allow-oom
-- Ends the import of dead letters: removes those that are now stored elsewhere.
-- ARGV  for each: id, its json as it was read, or '' for one that stays
-- Returns for each 1, or 0 if it stays, is gone, or has changed
local answers = {}
for i = FIRST, #ARGV, 2 do
  local id = ARGV[i]
  local same = redis.call('HGET', DLQ_DATA, id) == ARGV[i + 1]
  if same then
    redis.call('LREM', DLQ, -1, id)
    redis.call('HDEL', DLQ_DATA, id, queue_field(id))
  end
  redis.call('SREM', LETTERS, id)
  answers[#answers + 1] = same and 1 or 0
end
return answers
