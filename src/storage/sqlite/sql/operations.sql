-- Requests of operators: revise, end, requeue, pause. Tasks are found by the primary key.

-- ?1 id, ?2 version, ?3 now, ?4 due, or NULL to leave it
-- name: revise
UPDATE retry_state SET version = version + 1, updated_at = ?3, next_retry_time = coalesce(?4, next_retry_time)
WHERE id = ?1 AND version = ?2 AND status = 'PENDING';

-- Sends a task whose outcome is not decided yet to its callback.
-- ?1 id, ?3 now, ?4 error, or NULL to leave it, ?5 outcome, ?6 stage, ?7 result
-- name: end_and_tell
UPDATE retry_state SET
  status = 'PENDING', version = version + 1, locked_by = NULL, locked_at = NULL, lease_until = 0, updated_at = ?3,
  next_retry_time = ?3, stage = ?6, outcome = ?5, result_json = ?7,
  first_failed_at = CASE WHEN ?4 IS NULL THEN first_failed_at ELSE coalesce(first_failed_at, ?3) END,
  last_error_time = CASE WHEN ?4 IS NULL THEN last_error_time ELSE ?3 END,
  last_error_msg = coalesce(?4, last_error_msg)
WHERE id = ?1 AND stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE');

-- A row if the outcome of the task is decided, and is not this one: its callback is due.
-- ?1 id, ?2 outcome; NULL: whatever it is
-- name: decided
SELECT 1 FROM retry_state WHERE id = ?1 AND stage IN ('ON_SUCCESS', 'ON_FINAL_FAILURE') AND outcome IS NOT ?2;

-- As finish_into, but in any state. `remove` then removes the row.
-- ?1 id, ?3 now, ?4 error, or NULL to leave it, ?5 outcome
-- name: end_into
INSERT OR FAIL INTO {table} (
  id, method_name, next_retry_time, namespace, stage, attempt_count, callback_count, crash_count, delivery_count,
  progress, version, outcome, finished_at, first_failed_at, last_error_time, last_error_msg,
  task_class, attempt_log)
SELECT
  id, method_name, next_retry_time, namespace, stage, attempt_count, callback_count, crash_count, delivery_count,
  progress, version + 1, ?5, ?3,
  CASE WHEN ?4 IS NULL THEN first_failed_at ELSE coalesce(first_failed_at, ?3) END,
  CASE WHEN ?4 IS NULL THEN last_error_time ELSE ?3 END,
  coalesce(?4, last_error_msg),
  task_class, attempt_log
FROM retry_state
WHERE id = ?1;

-- No row if the task was requeued before, or its arguments were removed and it is given no others. The length is that of
-- the bytes: that of a text ends at its first zero byte.
-- ?1 id, ?2 whether it is given others
-- name: finished_identity
SELECT namespace, task_key, business_id, method_name FROM {table} JOIN retry_call USING (id)
WHERE id = ?1 AND id NOT IN (SELECT id FROM retry_requeued) AND (?2 OR length(CAST(params_json AS BLOB)) > 0);

-- Changes nothing if the new id is taken.
-- ?1 finished id, ?2 new id, ?3 now, ?4 shard, ?5 class, 0 for normal, or NULL to keep its own
-- name: requeue_from
INSERT INTO retry_state (
  method_name, namespace, first_failed_at, last_error_time, last_error_msg, progress, id, shard, version, status,
  next_retry_time, updated_at, task_class)
SELECT
  method_name, namespace, first_failed_at, last_error_time, last_error_msg, progress, ?2, ?4, 1, 'PENDING', ?3, ?3,
  CASE WHEN ?5 IS NULL THEN task_class ELSE nullif(?5, 0) END
FROM {table} WHERE id = ?1
ON CONFLICT DO NOTHING;

-- ?1 finished id, ?2 new id
-- name: mark_requeued
INSERT INTO retry_requeued (id, requeued_as) VALUES (?1, ?2);

-- ?1 namespace, ?2 handler, ?3 now, ?4 reason
-- name: pause
INSERT OR IGNORE INTO retry_pause (namespace, method_name, since, why) VALUES (?1, ?2, ?3, ?4);

-- ?1 namespace, ?2 handler
-- name: resume
DELETE FROM retry_pause WHERE namespace = ?1 AND method_name = ?2;

-- ?1 namespace
-- name: paused
SELECT method_name, since, why FROM retry_pause WHERE namespace = ?1 ORDER BY method_name;

-- ?1 namespace
-- name: count_paused
SELECT count(*) FROM retry_pause WHERE namespace = ?1;
