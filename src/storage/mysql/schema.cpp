#include "storage/mysql/schema.h"

#include "storage/mysql/columns.h"

namespace easyretry::storage::mysql {
namespace {

constexpr const char* kEngine = " ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin";

// Names are bytes, because characters are compared by a collation: to most of them "a" and "a " are the same. How long
// they may be is said again in columns.h; an index of InnoDB takes 3,072 bytes together.
constexpr const char* kTaskColumns = R"(
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
  params_json LONGBLOB NOT NULL COMMENT 'arguments; sealed if so configured',
  result_json LONGBLOB NULL COMMENT 'for a callback that is retried')";

// No index holds status, version, lease_until or locked_by: a claim and a renewal change a row in place. The key comes
// before its namespace, so that it is also found without one.
constexpr const char* kLive = R"(,
  status VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'PENDING or RUNNING',
  lease_until BIGINT NOT NULL DEFAULT 0 COMMENT 'RUNNING belongs to locked_by until then',
  locked_by VARBINARY(512) NULL,
  locked_at BIGINT NULL,
  shard SMALLINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (id),
  KEY idx_next_retry (namespace, shard, next_retry_time, id),
  KEY idx_business (business_id),
)";

constexpr const char* kEnded = R"(,
  finished_at BIGINT NOT NULL,
  requeued_as BIGINT NULL COMMENT 'the task it was requeued as',
  PRIMARY KEY (id),
  KEY idx_task_key (task_key, namespace),
  KEY idx_business (business_id),
  KEY idx_finished (finished_at))";

std::string create(const std::string& table, const std::string& columns, const std::string& comment) {
  return "CREATE TABLE IF NOT EXISTS " + table + " (" + columns + ")" + kEngine + " COMMENT='" + comment + "'";
}

}  // namespace

std::string create_tasks(const std::string& table, sql::KeysIn keys) {
  const char* const unique = keys == sql::KeysIn::tasks ? "UNIQUE " : "";
  return create(table, std::string{kTaskColumns} + kLive + unique + "KEY idx_task_key (task_key, namespace)",
                "live tasks only");
}

std::string create_keys() {
  return create("retry_task_key",
                "id BIGINT NOT NULL COMMENT 'of the task', namespace VARBINARY(128) NOT NULL, task_key VARBINARY(512) "
                "NOT NULL, PRIMARY KEY (id), UNIQUE KEY idx_task_key (task_key, namespace)",
                "the keys of all live tasks, if these are in several tables");
}

std::string create_history(const std::string& table) {
  return create(table, std::string{kTaskColumns} + kEnded, "ended tasks, by the month in which they ended");
}

// MySQL has no ADD COLUMN IF NOT EXISTS.
std::string lacks_marks(const std::string& table) {
  return "SELECT 1 FROM information_schema.tables t WHERE t.table_schema = DATABASE() AND t.table_name = '" + table +
         "' AND NOT EXISTS (SELECT 1 FROM information_schema.columns c WHERE c.table_schema = t.table_schema "
         "AND c.table_name = t.table_name AND c.column_name = 'requeued_as')";
}

// At the end, nullable and without a default, it is added at once where the server can, however many rows there are.
std::string add_marks(const std::string& table) {
  return "ALTER TABLE " + table + " ADD COLUMN requeued_as BIGINT NULL COMMENT 'the task it was requeued as'";
}

std::string create_keeper_log() {
  return create("retry_keeper_log",
                "id BIGINT NOT NULL AUTO_INCREMENT, at BIGINT NOT NULL, action VARBINARY(32) NOT NULL, "
                "table_name VARBINARY(128) NOT NULL, row_count BIGINT NOT NULL, PRIMARY KEY (id)",
                "changes of tables");
}

std::string check_tasks(const std::string& table) {
  return "SELECT " + live_insert_columns() + " FROM " + table +
         " FORCE INDEX (PRIMARY, idx_task_key, idx_next_retry, idx_business) LIMIT 0";
}

std::string check_keys() {
  return "SELECT id, namespace, task_key FROM retry_task_key FORCE INDEX (PRIMARY, idx_task_key) LIMIT 0";
}

std::string check_history(const std::string& table) {
  return "SELECT " + history_insert_columns() + ", requeued_as FROM " + table +
         " FORCE INDEX (PRIMARY, idx_task_key, idx_business) LIMIT 0";
}

std::string create_meta() {
  return create("retry_meta", "name VARBINARY(128) NOT NULL, value VARBINARY(8192) NOT NULL, PRIMARY KEY (name)",
                "settings that all instances of one database share");
}

}  // namespace easyretry::storage::mysql
