#!lua flags=no-writes,allow-oom
-- Lists tasks that are due soon and that no live lease holds, ordered by due time and id. Changes nothing.
-- KEYS     store, meta, sets of due tasks
-- ARGV     incarnation, time, how far ahead (LoadAhead), how many members to read at most in all; for each set a LoadFrom
-- Returns  time; for each set that was read (the last ones may be left for another call): END_OF_IT, FULL, MORE, or SOMETHING_ELSE
--          if the key does not hold a sorted set; of all its tasks the members (Due), the versions (Meta: version), and the due
--          times in digits, separated by commas; where to continue (LoadPlace); tasks whose workers may have died (Suspect); and
--          whether each was attempted before (Loaded)
VALUES(Found)
local PAGE = 500
local now, budget = clock(), tonumber(ARGV[4])
local ahead = struct.unpack(FORMAT(LoadAhead), ARGV[3])
local until_time = text(later(now, ahead))
local FRESH = struct.pack(FORMAT(Meta: version), 1)  -- of a task without a meta
local reply = {now}

local function is_after(id, other)
  local high, low = struct.unpack(FORMAT(Id), id)
  local other_high, other_low = struct.unpack(FORMAT(Id), other)
  return high > other_high or (high == other_high and low > other_low)
end

-- The rank of the first member after (place, id). Members of one time are ordered by id.
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

-- The version of a task that can be claimed when it is due; nil for others.
local function judged(meta)
  if not is_whole(meta) then return nil end
  local version, state, next_at = struct.unpack(FORMAT(Meta: version state next_at), meta)
  if version < 1 or (state ~= PENDING and state ~= RUNNING) then return nil end
  if state == RUNNING and struct.unpack(FORMAT(Meta: lease), meta, AT(Meta: lease)) > math.max(now, next_at) then return nil end
  return meta:sub(BYTES(Meta: version))
end

-- As task::suspicion().
local NO_CRASHES = struct.pack(FORMAT(Meta: crashes), 0)
local function suspicion(meta)
  local held = meta:byte(AT(Meta: state)) == RUNNING
  if not held and meta:sub(BYTES(Meta: crashes)) == NO_CRASHES then return 0 end
  local crashes = struct.unpack(FORMAT(Meta: crashes), meta, AT(Meta: crashes))
  if held and not waits(meta, (struct.unpack(FORMAT(Meta: owner_size), meta, AT(Meta: owner_size)))) then crashes = crashes + 1 end
  return math.max(0, math.min(crashes + 1, 255))
end

-- As task::is_retried().
local NEW, RETRIED = struct.pack(FORMAT(Loaded), 0), struct.pack(FORMAT(Loaded), 1)
local function retried(meta)
  if meta:byte(AT(Meta: stage)) ~= 0 then return NEW end
  return struct.unpack(FORMAT(Meta: attempts), meta, AT(Meta: attempts)) > 0 and RETRIED or NEW
end

-- Fills four columns and the list of suspects. Returns why it ended, and where.
local function scan(key, after, place, id, room, members, versions, times, suspects, retries)
  -- Tasks that are due later cost nothing, however many they are.
  local due = redis.pcall('ZCOUNT', key, '-inf', until_time)
  if type(due) ~= 'number' then return SOMETHING_ELSE, place, id end
  local count, rank = 0, after == 1 and rank_after(key, place, id) or 0
  while rank < due do
    if count == room then return FULL, place, id end
    if budget <= 0 then return MORE, place, id end
    local size = math.min(PAGE, budget, room - count, due - rank)
    local page = redis.call('ZRANGE', key, rank, rank + size - 1, 'WITHSCORES')
    local ids = {}
    for i = 1, size do ids[i] = page[2 * i - 1]:sub(BYTES(Due: id)) end
    local metas = ask('HMGET', KEYS[2], ids)
    for i = 1, size do
      local member, version = page[2 * i - 1], FRESH
      if metas[i] then version = judged(metas[i]) end
      if version and #member == SIZE(Due) then  -- other members are not ours
        local doubt = metas[i] and suspicion(metas[i]) or 0
        if doubt > 0 then suspects[#suspects + 1] = struct.pack(FORMAT(Suspect), count, doubt) end
        count = count + 1
        members[count], versions[count], times[count] = member, version, page[2 * i]
        retries[count] = metas[i] and retried(metas[i]) or NEW
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
  local after, place, id, room = struct.unpack(FORMAT(LoadFrom), ARGV[i])
  local state, members, versions, times, suspects, retries = nil, {}, {}, {}, {}, {}
  state, place, id = scan(KEYS[i - 2], after, place, id, room, members, versions, times, suspects, retries)
  budget = budget - 1  -- an empty set is work too
  local size = #reply
  reply[size + 1], reply[size + 2], reply[size + 3] = state, table.concat(members), table.concat(versions)
  reply[size + 4], reply[size + 5] = table.concat(times, ','), struct.pack(FORMAT(LoadPlace), place, id)
  reply[size + 6], reply[size + 7] = table.concat(suspects), table.concat(retries)
end
return reply
