-- Settings that all instances share: retry_meta.

-- $1 name
-- name: read_meta
SELECT value FROM retry_meta WHERE name = $1;

-- $1 name, $2 value
-- name: add_meta
INSERT INTO retry_meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- An advisory lock costs no write. A transaction of the application may read a snapshot from before the layout changed,
-- and then fails by the lock on the row: {for_share} is FOR SHARE in such a transaction, and nothing in our own.
-- name: hold_layout
SELECT pg_advisory_xact_lock_shared(7305824436894787187);
SELECT value FROM retry_meta WHERE name = 'layout' {for_share};

-- Waits for every transaction that holds the layout.
-- name: begin_change
BEGIN;
{settings}
SELECT pg_advisory_xact_lock(7305824436894787187);

-- $1 name, $2 old value, $3 new value
-- name: change_meta
UPDATE retry_meta SET value = $3 WHERE name = $1 AND value = $2 RETURNING 1;

-- $1 now, $2 action, $3 table, $4 rows
-- name: log_step
INSERT INTO retry_keeper_log (at, action, table_name, row_count) VALUES ($1, $2, $3, $4);

-- $1 before this time
-- name: forget_steps
DELETE FROM retry_keeper_log WHERE at < $1;
