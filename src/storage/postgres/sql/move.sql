-- Rows that change their table or their shard.

-- {condition} is AND shard = ANY($3::bigint[]), or nothing for all shards. $1 limit, $2 after this id, $3 shards
-- name: move
WITH gone AS (
  DELETE FROM {from}
  WHERE id = ANY(ARRAY(SELECT id FROM {from} WHERE id > $2 {condition} ORDER BY id LIMIT $1 FOR UPDATE))
  RETURNING
    id, namespace, task_key, method_name, stage, next_retry_time, attempt_count, callback_count, crash_count,
    delivery_count, generation, payload_version, max_attempts, created_at, max_retry_duration, deadline,
    backoff_strategy, business_type, business_id, tags, traceparent, progress, params_json, result_json,
    version, outcome, first_failed_at, last_error_time, last_error_msg, attempt_log, task_class,
    scan_time, status, shard, lane, lease_until, locked_by, locked_at, updated_at
), moved AS (
  INSERT INTO {to} (
    id, namespace, task_key, method_name, stage, next_retry_time, attempt_count, callback_count, crash_count,
    delivery_count, generation, payload_version, max_attempts, created_at, max_retry_duration, deadline,
    backoff_strategy, business_type, business_id, tags, traceparent, progress, params_json, result_json,
    version, outcome, first_failed_at, last_error_time, last_error_msg, attempt_log, task_class,
    scan_time, status, shard, lane, lease_until, locked_by, locked_at, updated_at)
  SELECT
    id, namespace, task_key, method_name, stage, next_retry_time, attempt_count, callback_count, crash_count,
    delivery_count, generation, payload_version, max_attempts, created_at, max_retry_duration, deadline,
    backoff_strategy, business_type, business_id, tags, traceparent, progress, params_json, result_json,
    version, outcome, first_failed_at, last_error_time, last_error_msg, attempt_log, task_class,
    scan_time, status, shard, lane, lease_until, locked_by, locked_at, updated_at
  FROM gone
  RETURNING id
)
SELECT count(*), coalesce(max(id), 0) FROM moved;

-- Of the rows after an id: how many there are, how many have another shard than {shard}, how many are leased, the last
-- id, and an owner of a lease. {shard} is shard_by_id() (storage/reshard.h), such as ((id >> 10) & 4095) % 64.
-- $1 after this id, $2 limit, $3 now
-- name: shard_page
SELECT
  count(*),
  count(*) FILTER (WHERE shard <> {shard}),
  count(*) FILTER (WHERE leased),
  coalesce(max(id), 0),
  max(locked_by) FILTER (WHERE leased)
FROM (
  SELECT id, shard, locked_by, status = 'RUNNING' AND lease_until > $3 AS leased
  FROM {table} WHERE id > $1 ORDER BY id LIMIT $2
) page;

-- A lane ends in the twelve bits of its shard. $1 after this id, $2 up to this id
-- name: renumber
UPDATE {table} SET shard = {shard}, lane = (lane & -4096) | ({shard})::int
WHERE id > $1 AND id <= $2 AND shard <> {shard};
