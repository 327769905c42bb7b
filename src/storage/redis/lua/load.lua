#!lua flags=no-writes,allow-oom
-- Tasks that are due soon and that no live lease holds, in the order of their due times and ids. Changes nothing.
-- KEYS  store, meta, sets of due tasks
-- ARGV  incarnation, time, how far ahead, how many members may be looked at in all; for each set: after B, place d, id c8 (goes on
--       after these, if so), most tasks wanted I4
-- Gives time, and for each set that was looked at (the last ones may be left for another call): END_OF_IT, FULL,
--       MORE or SOMETHING_ELSE, where there is no such set; for
--       each task id c8, version d, next_at d, handler H; and where it goes on: place d, id c8
local END_OF_IT, FULL, MORE, SOMETHING_ELSE = 0, 1, 2, 3
local PAGE = 500
local now, budget = clock(), tonumber(ARGV[4])
local ahead = struct.unpack('<d', ARGV[3])
local until_time = text(later(now, ahead))
local reply = {now}

local function is_after(id, other)
  local high, low = struct.unpack('>I4I4', id)
  local other_high, other_low = struct.unpack('>I4I4', other)
  return high > other_high or (high == other_high and low > other_low)
end

-- The rank of the first member after (place, id): those of one time are in the order of their ids.
local function rank_after(key, place, id)
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. text(place))
  local high = redis.call('ZCOUNT', key, '-inf', text(place))
  while low < high do
    local middle = math.floor((low + high) / 2)
    local there = redis.call('ZRANGE', key, middle, middle)[1]
    if is_after(there, id) then high = middle else low = middle + 1 end
  end
  return low
end

-- The version of a task that can be claimed when it is due; nothing for others.
local function judged(meta)
  if not meta then return 1 end
  if not readable(meta) then return nil end
  local version, state, next_at, _, _, _, lease = struct.unpack('<dBdHHc12d', meta)
  if version < 1 or (state ~= PENDING and state ~= RUNNING) then return nil end
  if state == RUNNING and lease > math.max(now, next_at) then return nil end
  return version
end

local function scan(key, after, place, id, room)
  -- What is due later, however much it is, is not looked at.
  local due = redis.pcall('ZCOUNT', key, '-inf', until_time)
  if type(due) ~= 'number' then return SOMETHING_ELSE, {}, place, id end
  local found, rank = {}, after == 1 and rank_after(key, place, id) or 0
  while rank < due do
    if #found == room then return FULL, found, place, id end
    if budget <= 0 then return MORE, found, place, id end
    local size = math.min(PAGE, budget, room - #found, due - rank)
    local page = redis.call('ZRANGE', key, rank, rank + size - 1, 'WITHSCORES')
    local ids = {}
    for i = 1, #page, 2 do ids[#ids + 1] = page[i]:sub(1, 8) end
    local metas = ask('HMGET', KEYS[2], ids)
    for i = 1, #ids do
      local score = tonumber(page[2 * i])
      place, id = score, ids[i]
      local version = judged(metas[i])
      if version then
        found[#found + 1] = id .. struct.pack('<dd', version, score) .. page[2 * i - 1]:sub(9, 10)
      end
    end
    budget = budget - #ids
    rank = rank + size
  end
  return END_OF_IT, found, place, id
end

for i = 5, #ARGV do
  if budget <= 0 then break end
  local after, place, id, room = struct.unpack('<Bdc8I4', ARGV[i])
  local state, found
  state, found, place, id = scan(KEYS[i - 2], after, place, id, room)
  budget = budget - 1  -- an empty set is work, too
  reply[#reply + 1] = state
  reply[#reply + 1] = table.concat(found)
  reply[#reply + 1] = struct.pack('<dc8', place, id)
end
return reply
