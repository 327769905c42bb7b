#!lua flags=no-writes,allow-oom
-- Tasks that are due soon and that no live lease holds, in the order of their due times and ids. Changes nothing.
-- KEYS  store, meta, sets of due tasks
-- ARGV  incarnation, time, how far ahead, how many members may be looked at in all; for each set: after B, place d, id c8 (goes on
--       after these, if so), most tasks wanted I4
-- Gives time, and for each set that was looked at (the last ones may be left for another call): END_OF_IT, FULL,
--       MORE or SOMETHING_ELSE, where there is no such set; of all tasks id and handler c10, the versions d, and the times in
--       digits with commas between them; where it goes on: place d, id c8; and what speaks against some of the tasks: for each
--       its place among them from 0 I4, suspicion B
local END_OF_IT, FULL, MORE, SOMETHING_ELSE = 0, 1, 2, 3
local PAGE = 500
local LEASE = 34   -- where it is in a meta
local MEMBER = 10  -- bytes; what somebody else has put there is passed over
local now, budget = clock(), tonumber(ARGV[4])
local ahead = struct.unpack('<d', ARGV[3])
local until_time = text(later(now, ahead))
local FRESH = struct.pack('<d', 1)  -- what nothing has happened to
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
  if not readable(meta) then return nil end
  local version, state, next_at = struct.unpack('<dBd', meta)
  if version < 1 or (state ~= PENDING and state ~= RUNNING) then return nil end
  if state == RUNNING and struct.unpack('<d', meta, LEASE) > math.max(now, next_at) then return nil end
  return meta:sub(1, 8)
end

-- As task::suspicion().
local NO_CRASHES = struct.pack('<i4', 0)
local function suspicion(meta)
  local held = meta:byte(9) == RUNNING
  if not held and meta:sub(CRASHES, CRASHES + 3) == NO_CRASHES then return 0 end
  local crashes = struct.unpack('<i4', meta, CRASHES)
  if held and not waits(meta, (struct.unpack('<H', meta, OWNER))) then crashes = crashes + 1 end
  return math.max(0, math.min(crashes + 1, 255))
end

-- Fills three columns and the list of suspects, and says why it ends, and where.
local function scan(key, after, place, id, room, members, versions, times, suspects)
  -- What is due later, however much it is, is not looked at.
  local due = redis.pcall('ZCOUNT', key, '-inf', until_time)
  if type(due) ~= 'number' then return SOMETHING_ELSE, place, id end
  local count, rank = 0, after == 1 and rank_after(key, place, id) or 0
  while rank < due do
    if count == room then return FULL, place, id end
    if budget <= 0 then return MORE, place, id end
    local size = math.min(PAGE, budget, room - count, due - rank)
    local page = redis.call('ZRANGE', key, rank, rank + size - 1, 'WITHSCORES')
    local ids = {}
    for i = 1, size do ids[i] = page[2 * i - 1]:sub(1, 8) end
    local metas = ask('HMGET', KEYS[2], ids)
    for i = 1, size do
      local member, version = page[2 * i - 1], FRESH
      if metas[i] then version = judged(metas[i]) end
      if version and #member == MEMBER then
        local doubt = metas[i] and suspicion(metas[i]) or 0
        if doubt > 0 then suspects[#suspects + 1] = struct.pack('<I4B', count, doubt) end
        count = count + 1
        members[count], versions[count], times[count] = member, version, page[2 * i]
      end
    end
    place, id = tonumber(page[2 * size]), ids[size]
    budget = budget - size
    rank = rank + size
  end
  return END_OF_IT, place, id
end

for i = 5, #ARGV do
  if budget <= 0 then break end
  local after, place, id, room = struct.unpack('<Bdc8I4', ARGV[i])
  local state, members, versions, times, suspects = nil, {}, {}, {}, {}
  state, place, id = scan(KEYS[i - 2], after, place, id, room, members, versions, times, suspects)
  budget = budget - 1  -- an empty set is work, too
  local size = #reply
  reply[size + 1], reply[size + 2], reply[size + 3] = state, table.concat(members), table.concat(versions)
  reply[size + 4], reply[size + 5] = table.concat(times, ','), struct.pack('<dc8', place, id)
  reply[size + 6] = table.concat(suspects)
end
return reply
