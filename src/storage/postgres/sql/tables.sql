-- Tables whose names depend on the layout or the month, and the server's figures of all tables. Times are milliseconds
-- since 1970, UTC.
--
-- Each CREATE TABLE is followed by a SELECT of its columns: a table that was there before may lack one. Refused when a
-- store is opened, it does not fail a task later.

-- fillfactor 45: half of each page is room for the new versions of rows that are claimed together. They then need no
-- other page and no index entry, and a claim costs half (measured: 9 µs a row instead of 19 with a fillfactor of 70).
-- Vacuum runs long before there are many dead rows.
--
-- The due index goes by scan_time (see reschedule in settle.sql). It has id + 0, so that it is of no use for finding
-- ids: to a plan that was made when the table was empty it would be as good as the primary key, and would be read as a
-- whole when the table is no longer empty.
--
-- {unique} is UNIQUE if this is the only table of tasks, and nothing if keys are in retry_task_key.
-- name: create_tasks
CREATE TABLE IF NOT EXISTS {table} (
  id bigint PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  task_key text COLLATE "C" NOT NULL,
  method_name text NOT NULL,
  version bigint NOT NULL,
  stage text NOT NULL,
  outcome text,
  next_retry_time bigint NOT NULL,
  attempt_count int NOT NULL,
  callback_count int NOT NULL,
  crash_count int NOT NULL,
  delivery_count int NOT NULL,
  generation int NOT NULL,
  payload_version int NOT NULL,
  max_attempts int NOT NULL,
  created_at bigint NOT NULL,
  max_retry_duration bigint NOT NULL,
  deadline bigint,
  first_failed_at bigint,
  last_error_time bigint,
  backoff_strategy text,
  business_type text,
  business_id text COLLATE "C",
  tags text,
  traceparent text,
  progress text,
  last_error_msg text,
  attempt_log text,
  params_json bytea,
  result_json bytea,
  task_class smallint,
  scan_time bigint NOT NULL,
  status text NOT NULL,
  shard smallint NOT NULL,
  lane int NOT NULL,
  lease_until bigint NOT NULL DEFAULT 0,
  locked_by text,
  locked_at bigint,
  updated_at bigint NOT NULL
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
SELECT
  id, namespace, task_key, method_name, stage, next_retry_time, attempt_count, callback_count, crash_count,
  delivery_count, generation, payload_version, max_attempts, created_at, max_retry_duration, deadline,
  backoff_strategy, business_type, business_id, tags, traceparent, progress, params_json, result_json,
  version, outcome, first_failed_at, last_error_time, last_error_msg, attempt_log, task_class,
  scan_time, status, shard, lane, lease_until, locked_by, locked_at, updated_at
FROM {table} LIMIT 0;
CREATE {unique} INDEX IF NOT EXISTS {table}_key ON {table} (task_key, namespace);
CREATE INDEX IF NOT EXISTS {table}_due ON {table} (lane, scan_time, (id + 0));
CREATE INDEX IF NOT EXISTS {table}_business ON {table} (business_id) WHERE business_id IS NOT NULL;
COMMENT ON TABLE {table} IS 'EasyRetry: live tasks. Times are milliseconds since 1970, UTC';

-- name: create_keys
CREATE TABLE IF NOT EXISTS retry_task_key (
  id bigint PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  task_key text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS retry_task_key_key ON retry_task_key (task_key, namespace);
COMMENT ON TABLE retry_task_key IS 'EasyRetry: the keys of all live tasks';

-- Keys are only looked up, so their index needs no order (measured: 2.2 of the 15 µs that the end of a task costs). An
-- index with an order, made by an earlier release, does as well.
-- name: create_history
CREATE TABLE IF NOT EXISTS {table} (
  id bigint PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  task_key text COLLATE "C" NOT NULL,
  method_name text NOT NULL,
  version bigint NOT NULL,
  stage text NOT NULL,
  outcome text,
  next_retry_time bigint NOT NULL,
  attempt_count int NOT NULL,
  callback_count int NOT NULL,
  crash_count int NOT NULL,
  delivery_count int NOT NULL,
  generation int NOT NULL,
  payload_version int NOT NULL,
  max_attempts int NOT NULL,
  created_at bigint NOT NULL,
  max_retry_duration bigint NOT NULL,
  deadline bigint,
  first_failed_at bigint,
  last_error_time bigint,
  backoff_strategy text,
  business_type text,
  business_id text COLLATE "C",
  tags text,
  traceparent text,
  progress text,
  last_error_msg text,
  attempt_log text,
  params_json bytea,
  result_json bytea,
  task_class smallint,
  finished_at bigint NOT NULL,
  requeued_as bigint
);
SELECT
  id, namespace, task_key, method_name, stage, next_retry_time, attempt_count, callback_count, crash_count,
  delivery_count, generation, payload_version, max_attempts, created_at, max_retry_duration, deadline,
  backoff_strategy, business_type, business_id, tags, traceparent, progress, params_json, result_json,
  version, outcome, first_failed_at, last_error_time, last_error_msg, attempt_log, task_class, finished_at,
  requeued_as
FROM {table} LIMIT 0;
CREATE INDEX IF NOT EXISTS {table}_key ON {table} USING hash (task_key);
CREATE INDEX IF NOT EXISTS {table}_business ON {table} (business_id) WHERE business_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS {table}_finished ON {table} (finished_at);
COMMENT ON TABLE {table} IS 'EasyRetry: tasks that ended in this month, UTC';

-- Instances that start together create tables one after the other: IF NOT EXISTS alone does not keep two that create
-- the same table at once from failing. The number is "easyretr" in ASCII; the one after it guards the layout (meta.sql).
-- name: one_at_a_time
BEGIN;
{settings}
SELECT pg_advisory_xact_lock(7305824436894787186);
{statement};
COMMIT;

-- name: drop_table
DROP TABLE IF EXISTS {table};

-- name: lock_table
BEGIN;
{settings}
LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE;

-- name: any_row
SELECT FROM {table} LIMIT 1;

-- name: tables
SELECT tablename FROM pg_tables
WHERE schemaname = ANY(current_schemas(false)) AND tablename LIKE 'retry\_%'
ORDER BY tablename COLLATE "C";

-- Name, estimated rows, bytes.
-- name: table_facts
SELECT c.relname::text, coalesce(s.n_live_tup, 0), pg_total_relation_size(c.oid)
FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
WHERE c.relkind = 'r' AND c.relname LIKE 'retry\_%'
  AND c.relnamespace::regnamespace::name = ANY(current_schemas(false))
ORDER BY c.relname COLLATE "C";
