-- Version 2: tasks of history say what they were requeued as.

-- Gives a row if the table is there without the column. MySQL has no ADD COLUMN IF NOT EXISTS.
-- name: lacks_column
SELECT 1
FROM information_schema.tables t
WHERE t.table_schema = DATABASE() AND t.table_name = '{table}'
  AND NOT EXISTS (
    SELECT 1 FROM information_schema.columns c
    WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name AND c.column_name = '{column}');

-- At the end, nullable and without a default, so a server that can do so adds it at once, however many rows there are.
-- name: add_requeued_as
ALTER TABLE {table} ADD COLUMN requeued_as BIGINT NULL COMMENT 'the task it was requeued as';
