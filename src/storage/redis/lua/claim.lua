#!lua
-- Gives due tasks to a worker. A claim needs the version that was seen, a due task, and nobody's live lease. The task stays
-- among the due ones, where a scan passes it over as long as the lease lives.
-- KEYS  store, body, meta
-- ARGV  incarnation, time, owner (with WAITING after it, unless each task begins at once), lease; for all tickets: id c8, version d
-- Gives time, what became of each ticket (LOST, FIRST or AGAIN), and of those that were won, in their order, the body, with AGAIN
--       after the meta: what nothing had happened to before, the caller knows as well
local LOST, FIRST, AGAIN = '0', '1', '2'
local now, owner = clock(), ARGV[3]
local lease, tickets = later(now, tonumber(ARGV[4])), ARGV[5]
local ids = {}
for i = 1, #tickets / 16 do ids[i] = tickets:sub(16 * i - 15, 16 * i - 8) end
local metas, bodies = ask('HMGET', KEYS[3], ids), ask('HMGET', KEYS[2], ids)

-- All but what is the task's own is the same for tasks that nothing has happened to yet.
local first = struct.pack('<dB', 2, RUNNING)
local rest = struct.pack('<dddBBi4i4i4i4HI4I4I4I4', lease, NEVER, NEVER, 0, 0, 1, 0, 1, 0, #owner, 0, 0, 0, 0) .. owner

local function claimed_first(body, version)
  if version ~= 1 or struct.unpack('<d', body, 9) > now then return nil end
  return first .. body:sub(9, 32) .. rest
end

-- What a claim does not change is copied, and not taken apart.
local function claimed_again(meta, version)
  if not readable(meta) then return nil end
  local there, state, next_at, names, until_time, failures, attempts, crashes, deliveries, callbacks, before =
    struct.unpack('<dBdc16dc18i4i4i4i4H', meta)
  if there ~= version or there < 1 or next_at > now then return nil end
  if state == RUNNING then
    if until_time > now then return nil end
    if not waits(meta, before) then crashes = crashes + 1 end
  elseif state ~= PENDING then
    return nil
  elseif failures:byte(17) == 0 then  -- the stage
    attempts = attempts + 1
  else
    callbacks = callbacks + 1
  end
  return struct.pack('<dBdc16dc18i4i4i4i4H', version + 1, RUNNING, next_at, names, lease, failures, attempts, crashes,
    deliveries + 1, callbacks, #owner) .. meta:sub(78, STRINGS - 1) .. owner .. meta:sub(STRINGS + before)
end

-- A task may be asked for twice, and the second one meets what the first has made of it.
local changed, to_meta, became, reply = {}, {}, {}, {now, ''}
local put, give = 0, 2
for i, id in ipairs(ids) do
  local before, body, meta = changed[id] or metas[i], bodies[i], nil
  if body and #body >= BODY then
    local version = struct.unpack('<d', tickets, 16 * i - 7)
    meta = before and claimed_again(before, version) or not before and claimed_first(body, version)
  end
  became[i] = meta and (before and AGAIN or FIRST) or LOST
  if meta then
    changed[id] = meta
    to_meta[put + 1], to_meta[put + 2] = id, meta
    put = put + 2
    if before then
      give = give + 1
      reply[give] = meta
    end
    give = give + 1
    reply[give] = body
  end
end
send('HSET', KEYS[3], to_meta)
reply[2] = table.concat(became)
return reply
