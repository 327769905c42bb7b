-- Version 3: how far the history of handlers that are kept for a shorter time has been swept.

-- name: create_retention
CREATE TABLE IF NOT EXISTS retry_retention (
  namespace VARBINARY(128) NOT NULL,
  method_name VARBINARY(512) NOT NULL COMMENT 'handler',
  tasks_until BIGINT NOT NULL COMMENT 'tasks that ended before it are removed',
  params_until BIGINT NOT NULL COMMENT 'the same for arguments alone',
  PRIMARY KEY (namespace, method_name))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
COMMENT='how far the history of handlers has been swept';
