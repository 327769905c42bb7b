-- Schema version 2: history tables have the id that a task was requeued as.

-- One row if the table exists and lacks the column. ADD COLUMN IF NOT EXISTS alone would wait for every reader of the
-- table, and make every reader wait, whenever a store is opened. $1 table,
-- $2 column
-- name: lacks_column
SELECT 1 FROM pg_class c
WHERE c.oid = to_regclass($1::text) AND NOT EXISTS (
  SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = $2::text AND NOT a.attisdropped);

-- Nullable and without a default, the column changes the catalogue alone, however many rows there are.
-- name: add_requeued_as
ALTER TABLE {table} ADD COLUMN IF NOT EXISTS requeued_as bigint;
