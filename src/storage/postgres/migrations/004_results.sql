-- Schema version 4: results that are kept for a while. Not a column of history: its rows are never written again, and a
-- result goes long before its task does.

-- name: create_results
CREATE TABLE IF NOT EXISTS retry_result (
  id bigint PRIMARY KEY,
  keep_until bigint NOT NULL,
  result_json bytea NOT NULL
);
CREATE INDEX IF NOT EXISTS retry_result_keep_until ON retry_result (keep_until);
COMMENT ON TABLE retry_result IS 'EasyRetry: results of ended tasks, for keep_results';
