-- Inserts, and their keys. {rows} are the values of up to 500 rows, each in parentheses.
--
-- ON DUPLICATE KEY UPDATE id = id: a row whose id or key exists already is left out and changes nothing. (INSERT
-- IGNORE would also store values that do not fit, truncated.)

-- name: insert_tasks
INSERT INTO {table} (
  id, namespace, task_key, method_name, business_type, business_id, stage, attempt_count, crash_count, delivery_count,
  generation, created_at, next_retry_time, params_json, payload_version, max_attempts, max_retry_duration, deadline,
  backoff_strategy, result_json, callback_count, tags, traceparent, progress, task_class, version, outcome,
  first_failed_at, last_error_time, last_error_msg, status, locked_by, locked_at, lease_until, shard, updated_at)
VALUES {rows}
ON DUPLICATE KEY UPDATE id = id;

-- name: insert_history
INSERT INTO {history} (
  id, namespace, task_key, method_name, business_type, business_id, stage, attempt_count, crash_count, delivery_count,
  generation, created_at, next_retry_time, params_json, payload_version, max_attempts, max_retry_duration, deadline,
  backoff_strategy, result_json, callback_count, tags, traceparent, progress, task_class, version, outcome,
  first_failed_at, last_error_time, last_error_msg, finished_at, attempt_log)
VALUES {rows}
ON DUPLICATE KEY UPDATE id = id;

-- name: take_keys
INSERT INTO retry_task_key (id, namespace, task_key)
VALUES {rows}
ON DUPLICATE KEY UPDATE id = id;

-- Which of the ids exist, and under which keys.
-- name: stored_keys
SELECT id, namespace, task_key
FROM {table} FORCE INDEX (PRIMARY)
WHERE id IN ({ids});

-- {lock} is empty, or LOCK IN SHARE MODE in the transaction of an application.
-- name: live_keys
SELECT id, version, next_retry_time, task_key
FROM {table} FORCE INDEX (idx_task_key)
WHERE namespace = {namespace} AND task_key IN ({keys})
{lock};

-- name: key_holders
SELECT id, task_key
FROM retry_task_key FORCE INDEX (idx_task_key)
WHERE namespace = {namespace} AND task_key IN ({keys})
{lock};
