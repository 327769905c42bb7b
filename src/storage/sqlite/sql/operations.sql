-- What people ask for: revise, cancel, requeue, pause. Tasks are found by the primary key.

-- ?1 id, ?2 version, ?3 now, ?4 due, or NULL to leave it
-- name: revise
UPDATE retry_state SET version = version + 1, updated_at = ?3, next_retry_time = coalesce(?4, next_retry_time)
WHERE id = ?1 AND version = ?2 AND status = 'PENDING';

-- Sends a task that has not ended yet to on_final_failure.
-- ?1 id, ?3 now, ?5 outcome
-- name: cancel_and_tell
UPDATE retry_state SET
  status = 'PENDING', version = version + 1, locked_by = NULL, locked_at = NULL, lease_until = 0, updated_at = ?3,
  next_retry_time = ?3, stage = 'ON_FINAL_FAILURE', outcome = ?5
WHERE id = ?1 AND stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE');

-- As finish_into, but in any state. `remove` then removes the row.
-- ?1 id, ?3 now, ?4 NULL, ?5 outcome
-- name: cancel_into
INSERT OR FAIL INTO {table} (
  id, method_name, next_retry_time, namespace, stage, attempt_count, callback_count, crash_count, delivery_count,
  result_json, progress, version, outcome, finished_at, first_failed_at, last_error_time, last_error_msg)
SELECT
  id, method_name, next_retry_time, namespace, stage, attempt_count, callback_count, crash_count, delivery_count,
  result_json, progress, version + 1, ?5, ?3,
  CASE WHEN ?4 IS NULL THEN first_failed_at ELSE coalesce(first_failed_at, ?3) END,
  CASE WHEN ?4 IS NULL THEN last_error_time ELSE ?3 END,
  coalesce(?4, last_error_msg)
FROM retry_state
WHERE id = ?1;

-- No row if the task was requeued before.
-- ?1 id
-- name: finished_identity
SELECT namespace, task_key, business_id, method_name FROM {table} JOIN retry_call USING (id)
WHERE id = ?1 AND id NOT IN (SELECT id FROM retry_requeued);

-- Changes nothing if the new id is taken.
-- ?1 finished id, ?2 new id, ?3 now, ?4 shard
-- name: requeue_from
INSERT INTO retry_state (
  method_name, namespace, first_failed_at, last_error_time, last_error_msg, progress, id, shard, version, status,
  next_retry_time, updated_at)
SELECT
  method_name, namespace, first_failed_at, last_error_time, last_error_msg, progress, ?2, ?4, 1, 'PENDING', ?3, ?3
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
