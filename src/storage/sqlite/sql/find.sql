-- Whole records by id, in the order of RecordColumn (storage/record_columns.h).
--
-- LEFT JOIN: a task whose call is gone, because of a manual edit, is still a task, to be parked and seen. id_list is a
-- table-valued function of ours (id_list.h); in the sqlite3 shell, write (SELECT 1 AS id) instead of id_list(?1).

-- Of retry_state or a month, by the primary key; NULL if the table is empty.
-- name: highest_id
SELECT max(id) FROM {table};

-- ?1 id
-- name: live_record
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, status, locked_by, lease_until, NULL, NULL, task_class, attempt_log
FROM retry_state LEFT JOIN retry_call USING (id) WHERE id = ?1;

-- In the order of the list, without the tasks that are gone.
-- CROSS JOIN: SQLite walks the list and looks up each task, never the other way round. UPDATE and DELETE have no such
-- word: after an ANALYZE of a small table they read all of it for a list, even when it has grown since.
-- ?1 list of ids
-- name: live_records
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, status, locked_by, lease_until, NULL, NULL, task_class
FROM id_list(?1) CROSS JOIN retry_state USING (id) LEFT JOIN retry_call USING (id);

-- With the result, if it is kept.
-- ?1 id
-- name: finished_record
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, retry_result.result_json,
  callback_count, tags, traceparent, progress, 'FINISHED', NULL, 0, finished_at, requeued_as, task_class, attempt_log
FROM {table} LEFT JOIN retry_call USING (id) LEFT JOIN retry_requeued USING (id)
  LEFT JOIN retry_result USING (id)
WHERE id = ?1;

-- ?1 list of ids
-- name: finished_records
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, 'FINISHED', NULL, 0, finished_at, requeued_as, task_class
FROM id_list(?1) CROSS JOIN {table} USING (id) LEFT JOIN retry_call USING (id) LEFT JOIN retry_requeued USING (id);
