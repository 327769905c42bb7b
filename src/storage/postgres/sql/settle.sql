-- Settlements. Rows are found as for a claim (claim.sql).
-- Everywhere: $1 ids, ascending, $2 versions, $3 now, $4 errors, NULL if nothing failed

-- {unless_there} is unless_in_history or nothing (NewKeys). History has an id already only if it was edited manually.
-- Looking for it is cheaper than ON CONFLICT, which writes every row twice, the first time speculatively (measured: 11.7
-- µs a row instead of 13.8). {attempts} and {log} are attempts_of_part and with_attempt, or nothing and attempt_log if
-- no task of the part has an attempt to be noted: most tasks succeed at once.
-- $5 outcomes, $6 lines for attempt_log (task/attempt_log.h), NULL for none
-- name: finish
WITH gone AS (
  DELETE FROM {table} t
  WHERE t.id = ANY($1::bigint[])
    AND t.version = ($2::bigint[])[width_bucket(t.id, $1::bigint[])]
    AND t.status = 'RUNNING'
  RETURNING t.*,
    ($4::text[])[width_bucket(t.id, $1::bigint[])] AS b_error,
    ($5::text[])[width_bucket(t.id, $1::bigint[])] AS b_outcome
    {attempts}
), kept AS (
  INSERT INTO {history} (
    id, namespace, task_key, method_name, stage, next_retry_time, attempt_count, callback_count, crash_count,
    delivery_count, generation, payload_version, max_attempts, created_at, max_retry_duration, deadline,
    backoff_strategy, business_type, business_id, tags, traceparent, progress, task_class, params_json,
    version, outcome, finished_at, first_failed_at, last_error_time, last_error_msg, attempt_log)
  SELECT
    id, namespace, task_key, method_name, stage, next_retry_time, attempt_count, callback_count, crash_count,
    delivery_count, generation, payload_version, max_attempts, created_at, max_retry_duration, deadline,
    backoff_strategy, business_type, business_id, tags, traceparent, progress, task_class, params_json,
    version + 1, b_outcome, $3,
    CASE WHEN b_error IS NULL THEN first_failed_at ELSE coalesce(first_failed_at, $3) END,
    CASE WHEN b_error IS NULL THEN last_error_time ELSE $3 END,
    coalesce(b_error, last_error_msg),
    {log}
  FROM gone {unless_there}
)
SELECT id, namespace, method_name FROM gone;

-- name: attempts_of_part
, ($6::text[])[width_bucket(t.id, $1::bigint[])] AS b_attempt;

-- name: with_attempt
coalesce(array_to_string((string_to_array(b_attempt || coalesce(chr(10) || attempt_log, ''), chr(10)))[1:8], chr(10)),
  attempt_log);

-- name: unless_in_history
WHERE NOT EXISTS (SELECT 1 FROM {history} h WHERE h.id = gone.id);

-- Without $3 and $4.
-- name: forget
DELETE FROM {table} t
WHERE t.id = ANY($1::bigint[])
  AND t.version = ($2::bigint[])[width_bucket(t.id, $1::bigint[])]
  AND t.status = 'RUNNING'
RETURNING id, namespace, method_name;

-- Retry, advance and hand back. A hand back ($6 is 1) takes back the attempt that the claim counted, and leaves the due
-- time alone unless the new one is later.
--
-- A task that is due again soon keeps its place in the due index, scan_time. Scans then find it a little early and pass
-- over it. In return the update changes no index and needs no new entry in any of them (measured: a task that fails
-- once and then succeeds costs half). Soon means within the time that is read ahead. No task stays before the others for
-- more than a minute.
-- $5 due, $6 1 for a hand back, $7 stages, $8 outcomes, $9 results; NULL leaves a stage, outcome or result as it is;
-- $10 lines for attempt_log, NULL for none
-- name: reschedule
UPDATE {table} t
SET status = 'PENDING',
  version = version + 1,
  locked_by = NULL,
  locked_at = NULL,
  lease_until = 0,
  updated_at = $3,
  attempt_count = attempt_count - (($6::bigint[])[width_bucket(t.id, $1::bigint[])] = 1
    AND stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE'))::int,
  callback_count = callback_count - (($6::bigint[])[width_bucket(t.id, $1::bigint[])] = 1
    AND stage IN ('ON_SUCCESS', 'ON_FINAL_FAILURE'))::int,
  next_retry_time = CASE WHEN ($6::bigint[])[width_bucket(t.id, $1::bigint[])] = 1
    THEN greatest(next_retry_time, ($5::bigint[])[width_bucket(t.id, $1::bigint[])])
    ELSE ($5::bigint[])[width_bucket(t.id, $1::bigint[])] END,
  scan_time = CASE
    WHEN CASE WHEN ($6::bigint[])[width_bucket(t.id, $1::bigint[])] = 1
      THEN greatest(next_retry_time, ($5::bigint[])[width_bucket(t.id, $1::bigint[])])
      ELSE ($5::bigint[])[width_bucket(t.id, $1::bigint[])] END
      BETWEEN scan_time AND least(scan_time + 60000, $3::bigint + 5000)
    THEN scan_time
    WHEN ($6::bigint[])[width_bucket(t.id, $1::bigint[])] = 1
    THEN greatest(next_retry_time, ($5::bigint[])[width_bucket(t.id, $1::bigint[])])
    ELSE ($5::bigint[])[width_bucket(t.id, $1::bigint[])] END,
  stage = coalesce(($7::text[])[width_bucket(t.id, $1::bigint[])], stage),
  outcome = coalesce(($8::text[])[width_bucket(t.id, $1::bigint[])], outcome),
  result_json = coalesce(($9::bytea[])[width_bucket(t.id, $1::bigint[])], result_json),
  first_failed_at = CASE WHEN ($4::text[])[width_bucket(t.id, $1::bigint[])] IS NULL
    THEN first_failed_at ELSE coalesce(first_failed_at, $3) END,
  last_error_time = CASE WHEN ($4::text[])[width_bucket(t.id, $1::bigint[])] IS NULL
    THEN last_error_time ELSE $3 END,
  last_error_msg = coalesce(($4::text[])[width_bucket(t.id, $1::bigint[])], last_error_msg),
  attempt_log = coalesce(array_to_string((string_to_array(
    ($10::text[])[width_bucket(t.id, $1::bigint[])] || coalesce(chr(10) || attempt_log, ''), chr(10)))[1:8], chr(10)),
    attempt_log)
WHERE t.id = ANY($1::bigint[])
  AND t.version = ($2::bigint[])[width_bucket(t.id, $1::bigint[])]
  AND t.status = 'RUNNING'
RETURNING id;
