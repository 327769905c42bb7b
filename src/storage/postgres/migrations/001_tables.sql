-- Schema version 1: the tables whose names are fixed. Times are milliseconds since 1970, UTC.

-- Settings that all instances share, and what the keeper has done.
-- name: create_meta
CREATE TABLE IF NOT EXISTS retry_meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE IF NOT EXISTS retry_keeper_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  action text NOT NULL,
  table_name text NOT NULL,
  row_count bigint NOT NULL
);

-- Rows of retry_count_delta live for seconds: vacuum removes dead ones before there are many.
-- name: create_counts
CREATE TABLE IF NOT EXISTS retry_count (
  day bigint NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  method_name text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  tasks bigint NOT NULL,
  PRIMARY KEY (day, namespace, method_name, kind)
);
CREATE TABLE IF NOT EXISTS retry_count_delta (
  id bigint PRIMARY KEY,
  day bigint NOT NULL,
  namespace text NOT NULL,
  method_name text NOT NULL,
  kind text NOT NULL,
  tasks bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE retry_count IS 'EasyRetry: tasks stored and ended, by day, UTC; 0: earlier days';
COMMENT ON TABLE retry_count_delta IS 'EasyRetry: to be added to retry_count';

-- name: create_members
CREATE TABLE IF NOT EXISTS retry_member (
  namespace text COLLATE "C" NOT NULL,
  node text COLLATE "C" NOT NULL,
  since bigint NOT NULL,
  alive_until bigint NOT NULL,
  says text NOT NULL,
  PRIMARY KEY (namespace, node)
) WITH (fillfactor = 50);
COMMENT ON TABLE retry_member IS 'EasyRetry: instances, and until when each counts as alive';

-- name: create_pauses
CREATE TABLE IF NOT EXISTS retry_pause (
  namespace text COLLATE "C" NOT NULL,
  method_name text COLLATE "C" NOT NULL,
  since bigint NOT NULL,
  why text NOT NULL,
  PRIMARY KEY (namespace, method_name)
);
COMMENT ON TABLE retry_pause IS 'EasyRetry: paused handlers: their tasks are not claimed';

-- Only calls that wait are in the index: rows that were refused stay in the table, and cost a load nothing.
-- name: create_inbox
CREATE TABLE IF NOT EXISTS retry_inbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace text NOT NULL DEFAULT 'default',
  method_name text NOT NULL,
  params_json text NOT NULL DEFAULT '[]',
  task_key text,
  business_type text,
  business_id text,
  traceparent text,
  delay_ms bigint NOT NULL DEFAULT 0,
  due_at bigint,
  created_at bigint NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
  error text,
  refused_at bigint
);
CREATE INDEX IF NOT EXISTS retry_inbox_waiting ON retry_inbox (namespace, method_name) WHERE refused_at IS NULL;
COMMENT ON TABLE retry_inbox IS 'EasyRetry: calls submitted by plain SQL, until they become tasks. Insert your own here';
