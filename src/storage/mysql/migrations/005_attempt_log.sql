-- Version 5: tables of tasks and of history have the last attempts of a task (task/attempt_log.h).

-- Bytes, because a claim joins the name of an instance to it, which is bytes. At the end, nullable and without a
-- default, so a server that can do so adds it at once, however many rows there are.
-- name: add_attempt_log
ALTER TABLE {table} ADD COLUMN attempt_log BLOB NULL COMMENT 'the last attempts, newest first, a line each';
