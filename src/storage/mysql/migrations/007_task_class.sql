-- Version 7: tables of tasks and of history have the class of a task (TaskClass).

-- At the end, nullable and without a default, so a server that can do so adds it at once, however many rows there are.
-- name: add_task_class
ALTER TABLE {table} ADD COLUMN task_class TINYINT NULL COMMENT 'NULL: normal, 1: urgent, 2: background';
