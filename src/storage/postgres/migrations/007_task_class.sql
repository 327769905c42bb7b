-- Schema version 7: tables of tasks and of history have the class of a task (TaskClass).

-- NULL for normal, 1 for urgent, 2 for background. Nullable and without a default, the column changes the catalogue
-- alone, however many rows there are; a row of a normal task is no longer than before.
-- name: add_task_class
ALTER TABLE {table} ADD COLUMN IF NOT EXISTS task_class smallint;
