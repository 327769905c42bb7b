-- Whole records, in the order of RecordColumn (storage/record_columns.h), and rows to be locked. {lock} is empty, FOR
-- UPDATE, FOR UPDATE NOWAIT, FOR UPDATE SKIP LOCKED, or LOCK IN SHARE MODE (Connection).

-- name: live_records
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, status, locked_by, lease_until, NULL, NULL, task_class, attempt_log
FROM {table} FORCE INDEX (PRIMARY)
WHERE id IN ({ids})
ORDER BY id
{lock};

-- name: finished_records
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, 'FINISHED', NULL, 0, finished_at, requeued_as, task_class
FROM {table} FORCE INDEX (PRIMARY)
WHERE id IN ({ids})
ORDER BY id
{lock};

-- finished_records with the results that are kept, for readers.
-- name: ended_records
SELECT
  t.id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, r.result_json,
  callback_count, tags, traceparent, progress, 'FINISHED', NULL, 0, finished_at, requeued_as, task_class, attempt_log
FROM {table} AS t FORCE INDEX (PRIMARY) LEFT JOIN retry_result AS r ON r.id = t.id
WHERE t.id IN ({ids})
ORDER BY t.id
{lock};

-- name: lock_ids
SELECT id
FROM {table} FORCE INDEX (PRIMARY)
WHERE id IN ({ids})
ORDER BY id
{lock};

-- A page of a list. {index} and {conditions} depend on what is searched for (reads.cpp); {beyond} and {direction} are
-- "> … ASC" or "< … DESC".
-- name: live_page
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, status, locked_by, lease_until, NULL, NULL, task_class
FROM {table} {index}
WHERE id {beyond} {from} {conditions}
ORDER BY id {direction}
LIMIT {limit};

-- name: finished_page
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, 'FINISHED', NULL, 0, finished_at, requeued_as, task_class
FROM {table} {index}
WHERE id {beyond} {from} {conditions}
ORDER BY id {direction}
LIMIT {limit};

-- How far the next rows reach, by the primary key.
-- name: reach
SELECT COUNT(*), MIN(id), MAX(id)
FROM (SELECT id FROM {table} FORCE INDEX (PRIMARY) WHERE id {beyond} {from} ORDER BY id {direction} LIMIT {limit}) AS next_rows;

-- name: count_tasks
SELECT COUNT(*) FROM {table} {index} WHERE TRUE {conditions};
