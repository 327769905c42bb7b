-- The months of history, and what goes when a month is dropped.

-- The names of the tables, oldest month first.
-- name: history_tables
SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'retry_state_[0-9]*' ORDER BY name;

-- name: remove_calls_of
DELETE FROM retry_call WHERE id IN (SELECT id FROM {table});

-- EXISTS: SQLite walks the marks, which are few, and not the month.
-- name: remove_marks_of
DELETE FROM retry_requeued WHERE EXISTS (SELECT 1 FROM {table} h WHERE h.id = retry_requeued.id);

-- These three remove the ?1 oldest rows, or nothing if the month has no more than that. Calls and marks go first.
-- name: shorten_calls
DELETE FROM retry_call WHERE id IN (
  SELECT id FROM {table} WHERE id < (SELECT id FROM {table} ORDER BY id LIMIT 1 OFFSET ?1));

-- name: shorten_marks
DELETE FROM retry_requeued
WHERE id < (SELECT id FROM {table} ORDER BY id LIMIT 1 OFFSET ?1)
  AND EXISTS (SELECT 1 FROM {table} h WHERE h.id = retry_requeued.id);

-- name: shorten
DELETE FROM {table} WHERE id < (SELECT id FROM {table} ORDER BY id LIMIT 1 OFFSET ?1);

-- The ?2 results whose time ended first.
-- ?1 now, ?2 limit
-- name: drop_results
DELETE FROM retry_result WHERE id IN (
  SELECT id FROM retry_result WHERE keep_until <= ?1 ORDER BY keep_until LIMIT ?2);

-- name: drop_month
DROP VIEW IF EXISTS retry_task_history_{month};
DROP TABLE retry_state_{month};
