-- Whole records, in the order of RecordColumn (storage/record_columns.h).

-- $1 ids
-- name: find_tasks
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, status, locked_by, lease_until, NULL, NULL
FROM {table} WHERE id = ANY($1::bigint[]);

-- $1 ids
-- name: find_ended
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, 'FINISHED', NULL, 0, finished_at, requeued_as
FROM {table} WHERE id = ANY($1::bigint[]);

-- {conditions} are those of the query, such as "AND namespace = $3 AND created_at >= $4".
-- $1 after this id, $2 limit
-- name: page_of_tasks
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, status, locked_by, lease_until, NULL, NULL
FROM {table} WHERE id > $1 {conditions} ORDER BY id LIMIT $2;

-- $1 after this id, $2 limit
-- name: page_of_ended
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, 'FINISHED', NULL, 0, finished_at, requeued_as
FROM {table} WHERE id > $1 {conditions} ORDER BY id LIMIT $2;

-- name: count_rows
SELECT count(*) FROM {table} WHERE TRUE {conditions};
