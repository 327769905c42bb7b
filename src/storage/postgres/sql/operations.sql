-- Rows that are locked, changed and written back, for tasks that users end, retry now or requeue, and the like.

-- $1 ids
-- name: hold
SELECT count(*) FROM (SELECT FROM {table} t WHERE t.id = ANY($1::bigint[]) ORDER BY id FOR UPDATE) held;

-- $1 ids
-- name: hold_free
SELECT id FROM {table} WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED;

-- Returns RecordColumn (storage/record_columns.h), as lock_history does. $1 ids
-- name: lock_tasks
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, status, locked_by, lease_until, NULL, NULL, task_class, attempt_log
FROM {table} WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE;

-- $1 ids
-- name: lock_history
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, 'FINISHED', NULL, 0, finished_at, requeued_as, task_class
FROM {history} WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE;

-- $1 ids, ascending, $2 new ids
-- name: mark_requeued
UPDATE {history} t SET requeued_as = ($2::bigint[])[width_bucket(t.id, $1::bigint[])] WHERE t.id = ANY($1::bigint[]);

-- $1 ids, ascending, $2 versions, $3 states, $4 stages, $5 outcomes, $6 now, $7 due, $8 first failures, $9 last failures,
-- $10 errors, $11 results
-- name: update_tasks
UPDATE {table} t
SET version = ($2::bigint[])[width_bucket(t.id, $1::bigint[])],
  status = ($3::text[])[width_bucket(t.id, $1::bigint[])],
  stage = ($4::text[])[width_bucket(t.id, $1::bigint[])],
  outcome = ($5::text[])[width_bucket(t.id, $1::bigint[])],
  next_retry_time = ($7::bigint[])[width_bucket(t.id, $1::bigint[])],
  scan_time = ($7::bigint[])[width_bucket(t.id, $1::bigint[])],
  first_failed_at = ($8::bigint[])[width_bucket(t.id, $1::bigint[])],
  last_error_time = ($9::bigint[])[width_bucket(t.id, $1::bigint[])],
  last_error_msg = ($10::text[])[width_bucket(t.id, $1::bigint[])],
  result_json = ($11::bytea[])[width_bucket(t.id, $1::bigint[])],
  lease_until = 0,
  locked_by = NULL,
  locked_at = NULL,
  updated_at = $6
WHERE t.id = ANY($1::bigint[]);

-- $1 ids
-- name: remove_tasks
DELETE FROM {table} WHERE id = ANY($1::bigint[]);
