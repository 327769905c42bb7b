-- Schema version 5: tables of tasks and of history have the last attempts of a task (task/attempt_log.h).

-- Nullable and without a default, the column changes the catalogue alone, however many rows there are.
-- name: add_attempt_log
ALTER TABLE {table} ADD COLUMN IF NOT EXISTS attempt_log text;
