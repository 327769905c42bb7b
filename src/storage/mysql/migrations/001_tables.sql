-- Version 1: the tables whose names do not depend on the layout or the month (sql/tables.sql). Names are bytes, as they
-- are there.

-- name: create_meta
CREATE TABLE IF NOT EXISTS retry_meta (
  name VARBINARY(128) NOT NULL,
  value VARBINARY(8192) NOT NULL,
  PRIMARY KEY (name))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
COMMENT='settings that all instances of one database share';

-- name: create_keeper_log
CREATE TABLE IF NOT EXISTS retry_keeper_log (
  id BIGINT NOT NULL AUTO_INCREMENT,
  at BIGINT NOT NULL,
  action VARBINARY(32) NOT NULL,
  table_name VARBINARY(128) NOT NULL,
  row_count BIGINT NOT NULL,
  PRIMARY KEY (id))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='changes of tables';

-- name: create_count
CREATE TABLE IF NOT EXISTS retry_count (
  day BIGINT NOT NULL COMMENT 'its beginning, ms since 1970 UTC; 0: earlier days',
  namespace VARBINARY(128) NOT NULL,
  method_name VARBINARY(512) NOT NULL COMMENT 'handler',
  kind VARBINARY(20) NOT NULL COMMENT 'STORED, or an outcome',
  tasks BIGINT NOT NULL,
  PRIMARY KEY (day, namespace, method_name, kind))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='tasks stored and ended';

-- name: create_count_delta
CREATE TABLE IF NOT EXISTS retry_count_delta (
  id BIGINT NOT NULL,
  day BIGINT NOT NULL COMMENT 'its beginning, ms since 1970 UTC; 0: earlier days',
  namespace VARBINARY(128) NOT NULL,
  method_name VARBINARY(512) NOT NULL COMMENT 'handler',
  kind VARBINARY(20) NOT NULL COMMENT 'STORED, or an outcome',
  tasks BIGINT NOT NULL,
  PRIMARY KEY (id))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='to be added to retry_count';

-- name: create_members
CREATE TABLE IF NOT EXISTS retry_member (
  namespace VARBINARY(128) NOT NULL,
  node VARBINARY(512) NOT NULL,
  since BIGINT NOT NULL,
  alive_until BIGINT NOT NULL COMMENT 'until when it counts as alive',
  says VARBINARY(4096) NOT NULL COMMENT 'its shards, for display',
  PRIMARY KEY (namespace, node))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='instances';

-- name: create_pauses
CREATE TABLE IF NOT EXISTS retry_pause (
  namespace VARBINARY(128) NOT NULL,
  method_name VARBINARY(512) NOT NULL COMMENT 'handler',
  since BIGINT NOT NULL,
  why VARBINARY(2048) NOT NULL,
  PRIMARY KEY (namespace, method_name))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
COMMENT='paused handlers: their tasks are not claimed';

-- Characters, unlike the names of retry_task: the server converts those of any client to UTF-8.
-- name: create_inbox
CREATE TABLE IF NOT EXISTS retry_inbox (
  id BIGINT NOT NULL AUTO_INCREMENT,
  namespace VARCHAR(64) NOT NULL DEFAULT 'default',
  method_name VARCHAR(255) NOT NULL COMMENT 'handler',
  params_json LONGTEXT NOT NULL COMMENT 'JSON array of its arguments',
  task_key VARCHAR(255) NULL,
  business_type VARCHAR(255) NULL,
  business_id VARCHAR(255) NULL,
  traceparent VARCHAR(64) NULL,
  delay_ms BIGINT NOT NULL DEFAULT 0 COMMENT 'not before created_at + delay_ms',
  due_at BIGINT NULL COMMENT 'instead of delay_ms; ms since 1970 UTC, like all times',
  created_at BIGINT NOT NULL DEFAULT (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000),
  error TEXT NULL COMMENT 'why it cannot become a task',
  refused_at BIGINT NULL COMMENT 'set it to NULL to try again',
  PRIMARY KEY (id),
  KEY idx_waiting (namespace, refused_at, method_name))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
COMMENT='calls asked for by plain SQL, until they become tasks; yours to insert into';
