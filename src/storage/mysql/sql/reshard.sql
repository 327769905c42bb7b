-- Rows that change their table or their shard.

-- {conditions} restricts the shards, or is empty.
-- name: lock_lowest
SELECT id
FROM {table} FORCE INDEX (PRIMARY)
WHERE id > {after} {conditions}
ORDER BY id
LIMIT {limit}
FOR UPDATE;

-- name: copy_tasks
INSERT INTO {to} (
  id, namespace, task_key, method_name, business_type, business_id, stage, attempt_count, crash_count, delivery_count,
  generation, created_at, next_retry_time, params_json, payload_version, max_attempts, max_retry_duration, deadline,
  backoff_strategy, result_json, callback_count, tags, traceparent, progress, version, outcome, first_failed_at,
  last_error_time, last_error_msg, attempt_log, task_class, status, locked_by, locked_at, lease_until, shard,
  updated_at)
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, attempt_count, crash_count, delivery_count,
  generation, created_at, next_retry_time, params_json, payload_version, max_attempts, max_retry_duration, deadline,
  backoff_strategy, result_json, callback_count, tags, traceparent, progress, version, outcome, first_failed_at,
  last_error_time, last_error_msg, attempt_log, task_class, status, locked_by, locked_at, lease_until, shard,
  updated_at
FROM {from} FORCE INDEX (PRIMARY)
WHERE id IN ({ids});

-- {shard} is the shard of an id among the new number of shards (shard_by_id). Gives: how many rows, how many of them are
-- in another shard, how many are leased, the last id, and one of the lease holders.
-- name: shard_page
SELECT
  COUNT(*),
  COALESCE(SUM(shard <> {shard}), 0),
  COALESCE(SUM(leased), 0),
  COALESCE(MAX(id), 0),
  COALESCE(MAX(IF(leased, locked_by, NULL)), '')
FROM (
  SELECT id, shard, locked_by, status = 'RUNNING' AND lease_until > {now} AS leased
  FROM {table} FORCE INDEX (PRIMARY)
  WHERE id > {after}
  ORDER BY id
  LIMIT {limit}) AS page;

-- name: renumber
UPDATE {table} FORCE INDEX (PRIMARY) SET shard = {shard}
WHERE id > {after} AND id <= {last} AND shard <> {shard};
