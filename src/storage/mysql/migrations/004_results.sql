-- Version 4: results that are kept for a while. Not a column of history: a result goes long before its task does.

-- name: create_results
CREATE TABLE IF NOT EXISTS retry_result (
  id BIGINT NOT NULL COMMENT 'of the task',
  keep_until BIGINT NOT NULL COMMENT 'ms since 1970 UTC',
  result_json LONGBLOB NOT NULL COMMENT 'sealed if so configured',
  PRIMARY KEY (id),
  KEY idx_keep_until (keep_until))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
COMMENT='results of ended tasks, for keep_results';
