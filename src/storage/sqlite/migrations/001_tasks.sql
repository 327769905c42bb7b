-- Never edited after a release; a change is a new number. Times are milliseconds since 1970, UTC. Columns that a scan
-- or a compare-and-set reads come first, long texts last.
--
-- A task is two rows. retry_state has its state, and moves to a month of history when it ends. retry_call has the
-- request, and stays where it was stored until that month is dropped. So the row that claims and settlements
-- write again and again is short, however long the arguments are. Users see both as one row, in the view retry_task.
--
-- Keys and business ids are found by retry_lookup (see calls.h), live and in history alike. An index over their texts
-- would be changed at a random page when a task is stored, when it ends, and when it enters history.
--
-- The due index has no shard: an engine with this store has all of them, and tasks stored together then lie together in
-- the index. It ends in the id without naming it, as every index of SQLite does; named, the id would be stored twice.
-- No index holds status, version, lease_until or locked_by: a claim and a renewal change a row in place.
-- name: migration_001
CREATE TABLE retry_state (id INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  status TEXT NOT NULL,
  lease_until INTEGER NOT NULL DEFAULT 0,
  method_name TEXT NOT NULL,
  next_retry_time INTEGER NOT NULL,
  shard INTEGER NOT NULL,
  namespace TEXT NOT NULL,
  stage TEXT NOT NULL DEFAULT 'RUN',
  attempt_count INTEGER NOT NULL DEFAULT 0,
  callback_count INTEGER NOT NULL DEFAULT 0,
  crash_count INTEGER NOT NULL DEFAULT 0,
  delivery_count INTEGER NOT NULL DEFAULT 0,
  locked_by TEXT,
  locked_at INTEGER,
  updated_at INTEGER NOT NULL,
  first_failed_at INTEGER,
  last_error_time INTEGER,
  outcome TEXT,
  last_error_msg TEXT,
  progress TEXT,
  result_json BLOB);
CREATE TABLE retry_call (id INTEGER PRIMARY KEY,
  task_key TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  deadline INTEGER,
  max_retry_duration INTEGER NOT NULL DEFAULT 0,
  backoff_strategy TEXT,
  business_type TEXT,
  business_id TEXT,
  payload_version INTEGER NOT NULL DEFAULT 1,
  tags TEXT,
  traceparent TEXT,
  params_json BLOB);
CREATE VIEW IF NOT EXISTS retry_task AS SELECT * FROM retry_state LEFT JOIN retry_call USING (id);
CREATE INDEX retry_state_due ON retry_state (namespace, next_retry_time);
CREATE TABLE retry_lookup (part INTEGER NOT NULL, hash INTEGER NOT NULL, id INTEGER NOT NULL,
  PRIMARY KEY (part, hash, id)) WITHOUT ROWID;
CREATE TABLE retry_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- A month of history: retry_state_202603. A later migration that changes its columns changes the tables that are there.
-- It lacks the columns that are the same for all tasks that have ended (status, lease, owner), and the shard, which
-- follows from the call.
-- name: month_table
CREATE TABLE IF NOT EXISTS retry_state_{month} (id INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  method_name TEXT NOT NULL,
  next_retry_time INTEGER NOT NULL,
  namespace TEXT NOT NULL,
  stage TEXT NOT NULL,
  attempt_count INTEGER NOT NULL,
  callback_count INTEGER NOT NULL,
  crash_count INTEGER NOT NULL,
  delivery_count INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  finished_at INTEGER NOT NULL,
  first_failed_at INTEGER,
  last_error_time INTEGER,
  last_error_msg TEXT,
  progress TEXT,
  result_json BLOB,
  attempt_log TEXT,
  task_class INTEGER);
