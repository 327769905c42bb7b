-- Storing a task: a row of retry_state for its state, a row of retry_call for the request, and entries in
-- retry_lookup (lookup.sql).

-- Adds an entry to retry_state_due. Changes nothing if the id is taken. live_keys says whether the key is free.
-- ?1 id, ?2 status, ?3 namespace, ?4 shard, ?5 handler, ?6 due, ?7 now, ?8 attempts, ?9 failed at, ?10 error,
-- ?11 owner, ?12 locked at, ?13 lease until, ?14 class, or NULL
-- name: insert
INSERT INTO retry_state (
  id, version, status, namespace, shard, method_name, next_retry_time, updated_at, attempt_count, delivery_count,
  first_failed_at, last_error_time, last_error_msg, locked_by, locked_at, lease_until, task_class)
VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?9, ?10, ?11, ?12, ?13, ?14)
ON CONFLICT DO NOTHING;

-- OR REPLACE: a call without a task, left behind by a manual edit, must not keep a task from being stored.
-- ?1 id, ?2 key, ?3 now, ?4 business type, ?5 business id, ?6 max attempts, ?7 deadline, ?8 max duration, ?9 backoff,
-- ?10 payload version, ?11 payload, ?12 tags, ?13 traceparent
-- name: insert_call
INSERT OR REPLACE INTO retry_call (
  id, task_key, created_at, business_type, business_id, max_attempts, deadline, max_retry_duration, backoff_strategy,
  payload_version, params_json, tags, traceparent)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13);

-- ?1 id, ?2 max attempts, ?3 deadline, ?4 max duration, ?5 backoff
-- name: update_rules
UPDATE retry_call SET max_attempts = ?2, deadline = ?3, max_retry_duration = ?4, backoff_strategy = ?5 WHERE id = ?1;

-- The call of the next generation. A deadline that has passed is left out: it would end the new task at once.
-- ?1 id, ?2 id of the next generation, ?3 now, ?4 other arguments, or NULL to keep its own
-- name: copy_call
INSERT OR REPLACE INTO retry_call (
  task_key, max_attempts, max_retry_duration, backoff_strategy, business_type, business_id, payload_version,
  params_json, tags, traceparent, deadline, id, generation, created_at)
SELECT
  task_key, max_attempts, max_retry_duration, backoff_strategy, business_type, business_id, payload_version,
  coalesce(?4, params_json), tags, traceparent, CASE WHEN deadline > ?3 THEN deadline END, ?2, generation + 1, ?3
FROM retry_call WHERE id = ?1;

-- ?1 id
-- name: call_texts
SELECT task_key, business_id FROM retry_call WHERE id = ?1;

-- ?1 id
-- name: remove_call
DELETE FROM retry_call WHERE id = ?1;
