-- Claims and renewals. The rules are those of task/transitions.cpp.
--
-- The winners are found by a SELECT ... FOR UPDATE. In READ COMMITTED it locks the rows that match and no gaps, in
-- ascending order of ids. The next statement changes exactly those rows. Measured on MariaDB 10.11 with 1,000 rows a
-- statement, per row: the SELECT takes 3 µs; an UPDATE of a list of ids 5 µs (13 µs if it changes next_retry_time), of a
-- JSON_TABLE 22 µs, and one UPDATE for each row 45 µs.
--
-- FORCE INDEX (PRIMARY): if a list names most rows of a small table, a full scan looks cheaper to the optimizer, and
-- would wait for rows that other transactions hold.

-- {tickets} are (id, version) pairs. SKIP LOCKED: a row that another transaction holds is being claimed or settled, so
-- this claim has lost it either way. The columns are those of storage/record_columns.h, and locked_at.
-- name: lock_claimable
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count,
  delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, last_error_msg,
  params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, result_json,
  callback_count, tags, traceparent, progress, status, locked_by, lease_until, NULL, NULL, task_class, NULL, locked_at
FROM {table} FORCE INDEX (PRIMARY)
WHERE (id, version) IN ({tickets})
  AND next_retry_time <= {now}
  AND (status = 'PENDING' OR (status = 'RUNNING' AND lease_until <= {now}))
ORDER BY id
FOR UPDATE SKIP LOCKED;

-- The counts come first: MariaDB and MySQL assign from left to right, and later assignments see the new status.
-- LEAST: a count that was manually set to the largest number must not fail the claim of all the other tasks. An unknown
-- stage is read as RUN, so it counts as an attempt: attempts end a task.
-- {lost} is note_lost if one of the rows is taken over from an instance that died, and empty otherwise.
-- name: claim
UPDATE {table} FORCE INDEX (PRIMARY) SET
  {lost}
  attempt_count = LEAST(
    attempt_count + (status = 'PENDING' AND stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE')), 2147483647),
  callback_count = LEAST(
    callback_count + (status = 'PENDING' AND stage IN ('ON_SUCCESS', 'ON_FINAL_FAILURE')), 2147483647),
  crash_count = LEAST(crash_count + (status <> 'PENDING' AND locked_at IS NOT NULL), 2147483647),
  delivery_count = LEAST(delivery_count + 1, 2147483647),
  status = 'RUNNING',
  version = version + 1,
  locked_by = {owner},
  locked_at = {locked_at},
  lease_until = {lease_until},
  updated_at = {now}
WHERE id IN ({ids});

-- The line of an attempt that its instance did not end (task/attempt_log.h).
-- name: note_lost
attempt_log = IF(status = 'PENDING' OR stage IN ('ON_SUCCESS', 'ON_FINAL_FAILURE'), attempt_log,
  SUBSTRING_INDEX(CONCAT_WS(CHAR(10),
    CONCAT_WS(CHAR(9), attempt_count, '', lease_until, IF(locked_at IS NULL, 'lost', 'crashed'), LEFT(locked_by, 128)),
    attempt_log), CHAR(10), 8)),;

-- The rows whose holder the ticket names, to be settled or renewed. {lock} is FOR UPDATE, or with NOWAIT, which fails if
-- another transaction holds one of the rows.
-- name: lock_held
SELECT id, namespace, method_name
FROM {table} FORCE INDEX (PRIMARY)
WHERE (id, version) IN ({tickets}) AND status = 'RUNNING'
ORDER BY id
{lock};

-- A heartbeat renews all its tasks for the same time: a list of ids costs a quarter of rows with values of their own.
-- name: extend_leases
UPDATE {table} FORCE INDEX (PRIMARY) SET lease_until = {lease_until}, updated_at = {now}
WHERE id IN ({ids});

-- {rows} are JSON arrays: id, lease_until, progress in hex. See settle.sql.
-- name: renew_with_progress
UPDATE JSON_TABLE('[{rows}]', '$[*]' COLUMNS (
    id BIGINT PATH '$[0]',
    lease_until BIGINT PATH '$[1]',
    progress LONGTEXT CHARACTER SET ascii PATH '$[2]')) AS n
  STRAIGHT_JOIN {table} AS t FORCE INDEX (PRIMARY) ON t.id = n.id
SET
  t.lease_until = n.lease_until,
  t.updated_at = {now},
  t.progress = UNHEX(n.progress);

-- A transaction that changes nothing commits without a flush. With this statement, a renewal that found no row waits for
-- the flush of the commits before it (StoreInfo::reads_run_ahead).
-- name: write_something
INSERT INTO retry_meta (name, value) VALUES ('written', 1)
ON DUPLICATE KEY UPDATE value = value + 1;
