-- Settings and transactions.

-- Each connection begins with these. Every statement finds its rows by an index, in the order of its batch. Without the
-- settings for the planner, a plan made from the statistics of a moment in which the table was empty would stay.
--
-- The server gives up before Connection::kPatience does, so that nothing goes on there after this side has stopped
-- waiting. The locks of an instance that is stopped or cut off are free again after 3 s: until then, a claim that needs
-- one of its rows waits, with all the other rows it has to claim.
--
-- {local} is LOCAL behind a pooler, where each transaction begins with these: they must not stay in a session that other
-- clients use.
-- name: settings
SET {local} enable_hashjoin = off;
SET {local} enable_mergejoin = off;
SET {local} enable_seqscan = off;
SET {local} enable_bitmapscan = off;
SET {local} jit = off;
SET {local} plan_cache_mode = force_generic_plan;
SET {local} client_min_messages = warning;
SET {local} statement_timeout = '9s';
SET {local} lock_timeout = '5s';
SET {local} idle_in_transaction_session_timeout = '3s';

-- Milliseconds since 1970, rounded down: a task must not start half a millisecond early.
-- name: now
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- {settings} are those that hold in this transaction only: brief_lock_timeout, least_lock_timeout, async_commit.
-- name: begin
BEGIN ISOLATION LEVEL READ COMMITTED;
{settings}
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- name: brief_lock_timeout
SET LOCAL lock_timeout = 200;

-- name: least_lock_timeout
SET LOCAL lock_timeout = 10;

-- name: async_commit
SET LOCAL synchronous_commit = off;
