-- The last attempts of a task, newest first, a line each (task/attempt_log.h).
-- name: migration_008
ALTER TABLE retry_state ADD COLUMN attempt_log TEXT;

-- name: month_attempt_log
ALTER TABLE retry_state_{month} ADD COLUMN attempt_log TEXT;
