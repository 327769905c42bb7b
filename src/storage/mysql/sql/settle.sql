-- Changes of rows that lock_held (claim.sql) or lock_ids (find.sql) has locked. How they find their rows, and what that
-- costs, is explained in claim.sql.
--
-- Where each row has values of its own, {rows} are JSON arrays, joined to their rows: one statement for all of them.
-- STRAIGHT_JOIN: the server walks the list and looks up each task. No assignment may depend on another one: with two
-- tables, their order is not defined. Bytes travel in hex, because JSON cannot carry every byte.

-- Many tasks end alike: one statement for each outcome and error. {failed} is TRUE if there is an {error}; it is noted
-- then. A record that history has already stays as it is.
-- name: finish_into
INSERT INTO {history} (
  id, namespace, task_key, method_name, business_type, business_id, stage, attempt_count, crash_count, delivery_count,
  generation, created_at, next_retry_time, params_json, payload_version, max_attempts, max_retry_duration, deadline,
  backoff_strategy, callback_count, tags, traceparent, progress, task_class, attempt_log, version, outcome,
  first_failed_at, last_error_time, last_error_msg, finished_at)
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, attempt_count, crash_count, delivery_count,
  generation, created_at, next_retry_time, params_json, payload_version, max_attempts, max_retry_duration, deadline,
  backoff_strategy, callback_count, tags, traceparent, progress, task_class, attempt_log, version + 1, {outcome},
  IF({failed}, COALESCE(first_failed_at, {now}), first_failed_at),
  IF({failed}, {now}, last_error_time),
  IF({failed}, {error}, last_error_msg),
  {now}
FROM {table} FORCE INDEX (PRIMARY)
WHERE id IN ({ids})
ON DUPLICATE KEY UPDATE id = {history}.id;

-- The same for tasks with an attempt to be noted (task/attempt_log.h), all of them in one statement. {rows}: id, error,
-- outcome, attempt.
-- name: finish_noted
INSERT INTO {history} (
  id, namespace, task_key, method_name, business_type, business_id, stage, attempt_count, crash_count, delivery_count,
  generation, created_at, next_retry_time, params_json, payload_version, max_attempts, max_retry_duration, deadline,
  backoff_strategy, callback_count, tags, traceparent, progress, task_class, attempt_log, version, outcome,
  first_failed_at, last_error_time, last_error_msg, finished_at)
SELECT
  t.id, namespace, task_key, method_name, business_type, business_id, stage, attempt_count, crash_count, delivery_count,
  generation, created_at, next_retry_time, params_json, payload_version, max_attempts, max_retry_duration, deadline,
  backoff_strategy, callback_count, tags, traceparent, progress, task_class,
  SUBSTRING_INDEX(CONCAT_WS(CHAR(10), n.attempt, attempt_log), CHAR(10), 8), version + 1, n.outcome,
  IF(n.error IS NULL, first_failed_at, COALESCE(first_failed_at, {now})),
  IF(n.error IS NULL, last_error_time, {now}),
  COALESCE(n.error, last_error_msg),
  {now}
FROM JSON_TABLE('[{rows}]', '$[*]' COLUMNS (
    id BIGINT PATH '$[0]',
    error MEDIUMTEXT CHARACTER SET utf8mb4 PATH '$[1]',
    outcome VARCHAR(20) CHARACTER SET ascii PATH '$[2]',
    attempt TEXT CHARACTER SET utf8mb4 PATH '$[3]')) AS n
  STRAIGHT_JOIN {table} AS t FORCE INDEX (PRIMARY) ON t.id = n.id
ON DUPLICATE KEY UPDATE id = {history}.id;

-- A join, because MariaDB takes no index hint for a DELETE from one table.
-- name: remove_rows
DELETE t
FROM JSON_TABLE('[{ids}]', '$[*]' COLUMNS (id BIGINT PATH '$')) AS n
  STRAIGHT_JOIN {table} AS t FORCE INDEX (PRIMARY) ON t.id = n.id;

-- {rows}: id, error, next_at, attempt or null. The task is pending again, and a ticket with the old version is void.
-- An error is noted if there is one.
-- name: retry
UPDATE JSON_TABLE('[{rows}]', '$[*]' COLUMNS (
    id BIGINT PATH '$[0]',
    error MEDIUMTEXT CHARACTER SET utf8mb4 PATH '$[1]',
    next_at BIGINT PATH '$[2]',
    attempt TEXT CHARACTER SET utf8mb4 PATH '$[3]')) AS n
  STRAIGHT_JOIN {table} AS t FORCE INDEX (PRIMARY) ON t.id = n.id
SET
  t.status = 'PENDING',
  t.version = t.version + 1,
  t.locked_by = NULL,
  t.locked_at = NULL,
  t.lease_until = 0,
  t.updated_at = {now},
  t.first_failed_at = IF(n.error IS NULL, t.first_failed_at, COALESCE(t.first_failed_at, {now})),
  t.last_error_time = IF(n.error IS NULL, t.last_error_time, {now}),
  t.last_error_msg = COALESCE(n.error, t.last_error_msg),
  t.attempt_log = IF(n.attempt IS NULL, t.attempt_log,
    SUBSTRING_INDEX(CONCAT_WS(CHAR(10), n.attempt, t.attempt_log), CHAR(10), 8)),
  t.next_retry_time = n.next_at;

-- {rows}: id, error, next_at, attempt or null, stage, outcome, result in hex.
-- name: advance
UPDATE JSON_TABLE('[{rows}]', '$[*]' COLUMNS (
    id BIGINT PATH '$[0]',
    error MEDIUMTEXT CHARACTER SET utf8mb4 PATH '$[1]',
    next_at BIGINT PATH '$[2]',
    attempt TEXT CHARACTER SET utf8mb4 PATH '$[3]',
    stage VARCHAR(20) CHARACTER SET ascii PATH '$[4]',
    outcome VARCHAR(20) CHARACTER SET ascii PATH '$[5]',
    result LONGTEXT CHARACTER SET ascii PATH '$[6]')) AS n
  STRAIGHT_JOIN {table} AS t FORCE INDEX (PRIMARY) ON t.id = n.id
SET
  t.status = 'PENDING',
  t.version = t.version + 1,
  t.locked_by = NULL,
  t.locked_at = NULL,
  t.lease_until = 0,
  t.updated_at = {now},
  t.first_failed_at = IF(n.error IS NULL, t.first_failed_at, COALESCE(t.first_failed_at, {now})),
  t.last_error_time = IF(n.error IS NULL, t.last_error_time, {now}),
  t.last_error_msg = COALESCE(n.error, t.last_error_msg),
  t.attempt_log = IF(n.attempt IS NULL, t.attempt_log,
    SUBSTRING_INDEX(CONCAT_WS(CHAR(10), n.attempt, t.attempt_log), CHAR(10), 8)),
  t.next_retry_time = n.next_at,
  t.stage = n.stage,
  t.outcome = n.outcome,
  t.result_json = UNHEX(n.result);

-- {rows}: id, error, next_at or null to leave it. The attempt does not count.
-- name: hand_back
UPDATE JSON_TABLE('[{rows}]', '$[*]' COLUMNS (
    id BIGINT PATH '$[0]',
    error MEDIUMTEXT CHARACTER SET utf8mb4 PATH '$[1]',
    next_at BIGINT PATH '$[2]')) AS n
  STRAIGHT_JOIN {table} AS t FORCE INDEX (PRIMARY) ON t.id = n.id
SET
  t.status = 'PENDING',
  t.version = t.version + 1,
  t.locked_by = NULL,
  t.locked_at = NULL,
  t.lease_until = 0,
  t.updated_at = {now},
  t.first_failed_at = IF(n.error IS NULL, t.first_failed_at, COALESCE(t.first_failed_at, {now})),
  t.last_error_time = IF(n.error IS NULL, t.last_error_time, {now}),
  t.last_error_msg = COALESCE(n.error, t.last_error_msg),
  t.attempt_count = t.attempt_count - (t.stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE')),
  t.callback_count = t.callback_count - (t.stage IN ('ON_SUCCESS', 'ON_FINAL_FAILURE')),
  t.next_retry_time = GREATEST(t.next_retry_time, COALESCE(n.next_at, t.next_retry_time));

-- {rows}: id, max_attempts, max_retry_duration, deadline, backoff_strategy in hex.
-- name: update_rules
UPDATE JSON_TABLE('[{rows}]', '$[*]' COLUMNS (
    id BIGINT PATH '$[0]',
    max_attempts BIGINT PATH '$[1]',
    max_duration BIGINT PATH '$[2]',
    deadline BIGINT PATH '$[3]',
    backoff LONGTEXT CHARACTER SET ascii PATH '$[4]')) AS n
  STRAIGHT_JOIN {table} AS t FORCE INDEX (PRIMARY) ON t.id = n.id
SET
  t.max_attempts = n.max_attempts,
  t.max_retry_duration = n.max_duration,
  t.deadline = n.deadline,
  t.backoff_strategy = UNHEX(n.backoff);

-- One whole row. {locked_at} is NULL, or locked_at to keep it.
-- name: update_task
UPDATE {table} SET
  status = {status},
  stage = {stage},
  outcome = {outcome},
  version = {version},
  attempt_count = {attempts},
  callback_count = {callbacks},
  crash_count = {crashes},
  delivery_count = {deliveries},
  next_retry_time = {next_at},
  first_failed_at = {first_failed_at},
  last_error_time = {last_failed_at},
  last_error_msg = {error},
  max_attempts = {max_attempts},
  max_retry_duration = {max_duration},
  deadline = {deadline},
  backoff_strategy = {backoff},
  result_json = {result},
  progress = {progress},
  locked_at = {locked_at},
  locked_by = {owner},
  lease_until = {lease_until},
  updated_at = {now}
WHERE id = {id};

-- name: mark_requeued
UPDATE {history} SET requeued_as = {new_id} WHERE id = {id};
