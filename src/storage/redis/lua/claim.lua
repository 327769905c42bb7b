#!lua
-- Claims due tasks for a worker. The version must be the one that was seen, the task must be due, and no lease may be alive. The
-- task stays in its set of due tasks; load.lua skips it while the lease is alive.
-- KEYS     store, body, meta
-- ARGV     incarnation, time, owner (followed by WAITING unless each task begins at once), lease, tickets (Ticket)
-- Returns  time; for each ticket LOST, FIRST or AGAIN; and for each task that was won, in order, its body, with AGAIN the meta
--          before it. With FIRST the caller can compute the meta itself
VALUES(Claimed)
local now, owner = clock(), ARGV[3]
local lease, tickets = later(now, tonumber(ARGV[4])), ARGV[5]
local ids = {}
for i = 1, #tickets / SIZE(Ticket) do ids[i] = tickets:sub(BYTES(Ticket[i]: id)) end
local metas, bodies = ask('HMGET', KEYS[3], ids), ask('HMGET', KEYS[2], ids)

-- The first metas of all tasks are the same, except for the bytes that come from the body.
local first = struct.pack(FORMAT(Meta: version state), 2, RUNNING)
local rest = struct.pack(FORMAT(Meta: lease first_failed last_failed stage outcome attempts crashes deliveries callbacks
  owner_size error_size progress_size result_size rules_size), lease, NEVER, NEVER, 0, 0, 1, 0, 1, 0, #owner, 0, 0, 0, 0) .. owner

local function claimed_first(body, version)
  if version ~= 1 or struct.unpack(FORMAT(Body: next_at), body, AT(Body: next_at)) > now then return nil end
  return first .. body:sub(BYTES(Body: next_at..digest)) .. rest
end

-- Copies the bytes that a claim does not change, without unpacking them.
local CLAIM = FORMAT(Meta: version state next_at name_space..digest lease first_failed..outcome attempts crashes deliveries callbacks
  owner_size)
-- The line of an attempt that its owner did not end.
local function lost_attempt(meta, attempts, until_time, owner_size)
  local name_size, ending = owner_size, 'crashed'
  if waits(meta, owner_size) then name_size, ending = owner_size - 1, 'lost' end
  local name = meta:sub(STRINGS, STRINGS + math.min(name_size, 128) - 1)
  return table.concat({text(attempts), '', text(until_time), ending, name}, '\t')
end

local function claimed_again(meta, version)
  if not is_whole(meta) then return nil end
  local there, state, next_at, names, until_time, failures, attempts, crashes, deliveries, callbacks, before =
    struct.unpack(CLAIM, meta)
  if there ~= version or there < 1 or next_at > now then return nil end
  if state == RUNNING then
    if until_time > now then return nil end
    if not waits(meta, before) then crashes = crashes + 1 end
    if meta:byte(AT(Meta: stage)) == 0 then meta = noted(meta, lost_attempt(meta, attempts, until_time, before)) end
  elseif state ~= PENDING then
    return nil
  elseif meta:byte(AT(Meta: stage)) == 0 then
    attempts = attempts + 1
  else
    callbacks = callbacks + 1
  end
  return struct.pack(CLAIM, version + 1, RUNNING, next_at, names, lease, failures, attempts, crashes,
    deliveries + 1, callbacks, #owner) .. meta:sub(BYTES(Meta: error_size..rules_size)) .. owner .. meta:sub(STRINGS + before)
end

-- A task may be asked for twice. The second ticket then finds the meta that the first one wrote.
local changed, to_meta, became, reply = {}, {}, {}, {now, ''}
local put, give = 0, 2
for i, id in ipairs(ids) do
  local before, body, meta = changed[id] or metas[i], bodies[i], nil
  if body and #body >= SIZE(Body) then
    local version = struct.unpack(FORMAT(Ticket: version), tickets, AT(Ticket[i]: version))
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
