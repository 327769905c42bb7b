-- The class of a task (TaskClass): NULL for normal, 1 for urgent, 2 for background. A row of a normal task is one byte
-- longer than before.
-- name: migration_010
ALTER TABLE retry_state ADD COLUMN task_class INTEGER;

-- name: month_task_class
ALTER TABLE retry_state_{month} ADD COLUMN task_class INTEGER;
