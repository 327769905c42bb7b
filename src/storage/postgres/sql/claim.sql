-- Claims and renewals. The rows of a batch are found by their ids in $1, which are ascending, each once. The primary
-- key gives them one after the other, so every instance locks rows in the same order. The other arrays have the value
-- of a row at the same place: width_bucket() finds it. Written without a join: with a table that was small when the
-- statement was planned, a join would read all of it for each batch, in any order.
--
-- No index has status, version, lease_until or locked_by, so a claim and a renewal are heap-only updates.

-- A count that was edited manually to the end of its column must not fail the claim of all other tasks, hence least().
-- next_retry_time + 0: no index is on that, so the rows come by the primary key, in the order of their ids. A stage
-- that is unknown is read as a run, so it has to count as one: attempts end a task. A task whose instance died gets a
-- line for the lost attempt (task/attempt_log.h). Returns RecordColumn (storage/record_columns.h).
-- $1 ids, $2 versions, $3 owner, $4 now, $5 lease until, $6 locked at, or NULL if the run does not begin yet
-- name: claim
UPDATE {table} t
SET status = 'RUNNING',
  version = version + 1,
  attempt_count = least(attempt_count::bigint
    + (status = 'PENDING' AND stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE'))::int, 2147483647),
  callback_count = least(callback_count::bigint
    + (status = 'PENDING' AND stage IN ('ON_SUCCESS', 'ON_FINAL_FAILURE'))::int, 2147483647),
  crash_count = least(crash_count::bigint + (status <> 'PENDING' AND locked_at IS NOT NULL)::int, 2147483647),
  delivery_count = least(delivery_count::bigint + 1, 2147483647),
  attempt_log = CASE WHEN status = 'PENDING' OR stage IN ('ON_SUCCESS', 'ON_FINAL_FAILURE') THEN attempt_log
    ELSE array_to_string((string_to_array(concat_ws(chr(10),
      concat_ws(chr(9), attempt_count, '', lease_until, CASE WHEN locked_at IS NULL THEN 'lost' ELSE 'crashed' END,
        left(locked_by, 128)),
      attempt_log), chr(10)))[1:8], chr(10)) END,
  locked_by = $3,
  locked_at = $6,
  lease_until = $5,
  updated_at = $4
WHERE t.id = ANY($1::bigint[])
  AND t.version = ($2::bigint[])[width_bucket(t.id, $1::bigint[])]
  AND t.next_retry_time + 0 <= $4
  AND (t.status = 'PENDING' OR (t.status = 'RUNNING' AND t.lease_until <= $4))
RETURNING
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, status, locked_by, lease_until, NULL, NULL, task_class;

-- $1 ids, $2 versions, $3 now, $4 leases until, $5 progress, NULL to leave it
-- name: renew
UPDATE {table} t
SET lease_until = ($4::bigint[])[width_bucket(t.id, $1::bigint[])],
  updated_at = $3,
  progress = coalesce(($5::text[])[width_bucket(t.id, $1::bigint[])], progress)
WHERE t.id = ANY($1::bigint[])
  AND t.version = ($2::bigint[])[width_bucket(t.id, $1::bigint[])]
  AND t.status = 'RUNNING'
RETURNING id;
