-- Tables whose names depend on the layout or the month, and what is asked about tables. The others are in migrations/.
--
-- Names are bytes, because characters are compared by a collation: to most collations "a" and "a " are the same. The
-- lengths are repeated in values.h. One InnoDB index takes 3,072 bytes in all.

-- No index holds status, version, lease_until or locked_by: a claim and a renewal change a row in place. idx_task_key has
-- the key before its namespace, so that a key is also found without one. {unique} is UNIQUE, or empty if the keys are in
-- retry_task_key.
-- name: create_tasks
CREATE TABLE IF NOT EXISTS {table} (
  id BIGINT NOT NULL COMMENT 'carries creation time and shard',
  version BIGINT NOT NULL COMMENT 'fencing token: every change compares it',
  next_retry_time BIGINT NOT NULL COMMENT 'due; ms since 1970 UTC, like all times',
  attempt_count INT NOT NULL DEFAULT 0 COMMENT 'executions that count',
  callback_count INT NOT NULL DEFAULT 0 COMMENT 'the same after stage RUN',
  crash_count INT NOT NULL DEFAULT 0 COMMENT 'executions whose worker died',
  delivery_count INT NOT NULL DEFAULT 0 COMMENT 'every time a worker was given the task',
  stage VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'RUN'
    COMMENT 'what is left to do: RUN, ON_SUCCESS, ON_FINAL_FAILURE',
  outcome VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'decided, but perhaps not yet told',
  namespace VARBINARY(128) NOT NULL COMMENT 'one application',
  task_key VARBINARY(512) NOT NULL COMMENT 'unique among what is to be done',
  method_name VARBINARY(512) NOT NULL COMMENT 'handler',
  business_type VARBINARY(255) NULL,
  business_id VARBINARY(512) NULL,
  created_at BIGINT NOT NULL,
  first_failed_at BIGINT NULL,
  last_error_time BIGINT NULL,
  deadline BIGINT NULL COMMENT 'no attempt begins after it',
  max_retry_duration BIGINT NOT NULL DEFAULT 0 COMMENT 'ms; 0: no limit',
  max_attempts INT NOT NULL COMMENT '0: no limit',
  backoff_strategy VARBINARY(2048) NULL COMMENT 'NULL: that of the handler',
  generation INT NOT NULL DEFAULT 0 COMMENT 'how often it was requeued',
  payload_version INT NOT NULL DEFAULT 1 COMMENT 'of params_json',
  traceparent VARBINARY(512) NULL,
  tags MEDIUMTEXT NULL COMMENT 'JSON array',
  progress MEDIUMBLOB NULL COMMENT 'what the last handler left',
  last_error_msg MEDIUMTEXT NULL,
  attempt_log BLOB NULL COMMENT 'the last attempts, newest first, a line each',
  params_json LONGBLOB NOT NULL COMMENT 'arguments; sealed if so configured',
  result_json LONGBLOB NULL COMMENT 'for a callback that is retried',
  task_class TINYINT NULL COMMENT 'NULL: normal, 1: urgent, 2: background',
  status VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'PENDING or RUNNING',
  lease_until BIGINT NOT NULL DEFAULT 0 COMMENT 'RUNNING belongs to locked_by until then',
  locked_by VARBINARY(512) NULL,
  locked_at BIGINT NULL,
  shard SMALLINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (id),
  KEY idx_next_retry (namespace, shard, next_retry_time, id),
  KEY idx_business (business_id),
  {unique} KEY idx_task_key (task_key, namespace))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='live tasks only';

-- name: create_keys
CREATE TABLE IF NOT EXISTS retry_task_key (
  id BIGINT NOT NULL COMMENT 'of the task',
  namespace VARBINARY(128) NOT NULL,
  task_key VARBINARY(512) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY idx_task_key (task_key, namespace))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
COMMENT='the keys of all live tasks, if these are in several tables';

-- name: create_history
CREATE TABLE IF NOT EXISTS {table} (
  id BIGINT NOT NULL COMMENT 'carries creation time and shard',
  version BIGINT NOT NULL COMMENT 'fencing token: every change compares it',
  next_retry_time BIGINT NOT NULL COMMENT 'due; ms since 1970 UTC, like all times',
  attempt_count INT NOT NULL DEFAULT 0 COMMENT 'executions that count',
  callback_count INT NOT NULL DEFAULT 0 COMMENT 'the same after stage RUN',
  crash_count INT NOT NULL DEFAULT 0 COMMENT 'executions whose worker died',
  delivery_count INT NOT NULL DEFAULT 0 COMMENT 'every time a worker was given the task',
  stage VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'RUN'
    COMMENT 'what is left to do: RUN, ON_SUCCESS, ON_FINAL_FAILURE',
  outcome VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'decided, but perhaps not yet told',
  namespace VARBINARY(128) NOT NULL COMMENT 'one application',
  task_key VARBINARY(512) NOT NULL COMMENT 'unique among what is to be done',
  method_name VARBINARY(512) NOT NULL COMMENT 'handler',
  business_type VARBINARY(255) NULL,
  business_id VARBINARY(512) NULL,
  created_at BIGINT NOT NULL,
  first_failed_at BIGINT NULL,
  last_error_time BIGINT NULL,
  deadline BIGINT NULL COMMENT 'no attempt begins after it',
  max_retry_duration BIGINT NOT NULL DEFAULT 0 COMMENT 'ms; 0: no limit',
  max_attempts INT NOT NULL COMMENT '0: no limit',
  backoff_strategy VARBINARY(2048) NULL COMMENT 'NULL: that of the handler',
  generation INT NOT NULL DEFAULT 0 COMMENT 'how often it was requeued',
  payload_version INT NOT NULL DEFAULT 1 COMMENT 'of params_json',
  traceparent VARBINARY(512) NULL,
  tags MEDIUMTEXT NULL COMMENT 'JSON array',
  progress MEDIUMBLOB NULL COMMENT 'what the last handler left',
  last_error_msg MEDIUMTEXT NULL,
  attempt_log BLOB NULL COMMENT 'the last attempts, newest first, a line each',
  params_json LONGBLOB NOT NULL COMMENT 'arguments; sealed if so configured',
  result_json LONGBLOB NULL COMMENT 'for a callback that is retried',
  task_class TINYINT NULL COMMENT 'NULL: normal, 1: urgent, 2: background',
  finished_at BIGINT NOT NULL,
  requeued_as BIGINT NULL COMMENT 'the task it was requeued as',
  PRIMARY KEY (id),
  KEY idx_task_key (task_key, namespace),
  KEY idx_business (business_id),
  KEY idx_finished (finished_at))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
COMMENT='ended tasks, by the month in which they ended';

-- These fail if the table, which may have been there before, lacks a column or an index. A store runs them when it is
-- opened, so that such a table does not fail a task later.
-- name: check_tasks
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, attempt_count, crash_count, delivery_count,
  generation, created_at, next_retry_time, params_json, payload_version, max_attempts, max_retry_duration, deadline,
  backoff_strategy, result_json, callback_count, tags, traceparent, progress, version, outcome, first_failed_at,
  last_error_time, last_error_msg, attempt_log, task_class, status, locked_by, locked_at, lease_until, shard, updated_at
FROM {table} FORCE INDEX (PRIMARY, idx_task_key, idx_next_retry, idx_business)
LIMIT 0;

-- name: check_keys
SELECT id, namespace, task_key FROM retry_task_key FORCE INDEX (PRIMARY, idx_task_key) LIMIT 0;

-- name: check_history
SELECT
  id, namespace, task_key, method_name, business_type, business_id, stage, attempt_count, crash_count, delivery_count,
  generation, created_at, next_retry_time, params_json, payload_version, max_attempts, max_retry_duration, deadline,
  backoff_strategy, result_json, callback_count, tags, traceparent, progress, version, outcome, first_failed_at,
  last_error_time, last_error_msg, attempt_log, task_class, finished_at, requeued_as
FROM {table} FORCE INDEX (PRIMARY, idx_task_key, idx_business)
LIMIT 0;

-- name: table_names
SELECT table_name
FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND table_name LIKE 'retry\_%';

-- The number of rows is an estimate.
-- name: table_facts
SELECT table_name, COALESCE(table_rows, 0), COALESCE(data_length + index_length, 0)
FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND table_name LIKE 'retry\_%'
ORDER BY table_name;

-- name: note_keeper_step
INSERT INTO retry_keeper_log (at, action, table_name, row_count) VALUES ({now}, {action}, {table}, {row_count});

-- name: forget_keeper_steps
DELETE FROM retry_keeper_log WHERE at < {before};
