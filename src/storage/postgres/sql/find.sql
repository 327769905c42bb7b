-- Whole records, in the order of RecordColumn (storage/record_columns.h).

-- $1 ids
-- name: find_tasks
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, status, locked_by, lease_until, NULL, NULL, task_class, attempt_log
FROM {table} WHERE id = ANY($1::bigint[]);

-- $1 ids
-- name: find_ended
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, r.result_json,
  callback_count, tags, traceparent, progress, 'FINISHED', NULL, 0, finished_at, requeued_as, task_class, attempt_log
FROM {table} LEFT JOIN retry_result r USING (id) WHERE id = ANY($1::bigint[]);

-- {conditions} are those of the query, such as "AND namespace = $3 AND created_at >= $4"; {beyond} and {direction} are
-- "> … ASC" or "< … DESC".
-- $1 beyond this id, $2 limit
-- name: page_of_tasks
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, status, locked_by, lease_until, NULL, NULL, task_class
FROM {table} WHERE id {beyond} $1 {conditions} ORDER BY id {direction} LIMIT $2;

-- $1 beyond this id, $2 limit
-- name: page_of_ended
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, 'FINISHED', NULL, 0, finished_at, requeued_as, task_class
FROM {table} WHERE id {beyond} $1 {conditions} ORDER BY id {direction} LIMIT $2;

-- How far the next rows reach, by the primary key.
-- $1 beyond this id, $2 limit
-- name: reach
SELECT count(*), min(id), max(id)
FROM (SELECT id FROM {table} WHERE id {beyond} $1 ORDER BY id {direction} LIMIT $2) AS next_rows;

-- name: count_rows
SELECT count(*) FROM {table} WHERE TRUE {conditions};
