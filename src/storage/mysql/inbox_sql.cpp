#include "storage/mysql/inbox_sql.h"

#include "storage/mysql/literals.h"
#include "storage/sql/inbox_columns.h"

namespace easyretry::storage::mysql {
namespace {

// (first, second, third)
template <class T, class Text>
std::string list(std::span<const T> values, Text text) {
  std::string all = "(";
  for (const T& value : values) all.append(all.size() == 1 ? "" : ",").append(text(value));
  return all.append(")");
}

std::string waiting(std::string_view space, std::span<const std::string> handlers) {
  const auto name = [](const std::string& handler) { return "'" + escaped(handler) + "'"; };
  return " FROM retry_inbox FORCE INDEX (idx_waiting) WHERE namespace = '" + escaped(space) +
         "' AND refused_at IS NULL AND method_name IN " + list(handlers, name);
}

}  // namespace

// Characters, unlike the names of retry_task: the server turns those of any client into UTF-8.
std::string create_inbox() {
  return R"(CREATE TABLE IF NOT EXISTS retry_inbox (
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
  COMMENT='calls asked for by plain SQL, until they become tasks; yours to insert into')";
}

std::string inbox(const IntakeQuery& query) {
  return std::string{"SELECT "} + sql::kInboxColumns + waiting(query.space, query.handlers) + " LIMIT " +
         std::to_string(query.limit) + " FOR UPDATE SKIP LOCKED";
}

std::string waiting_calls(std::string_view space, std::span<const std::string> handlers) {
  return handlers.empty() ? "0" : "EXISTS (SELECT 1" + waiting(space, handlers) + ")";
}

std::string refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) {
  return "UPDATE retry_inbox SET error = " + characters(why) + ", refused_at = " + literal(now) +
         " WHERE id = " + literal(id);
}

std::string clear_inbox(std::span<const std::int64_t> ids) {
  return "DELETE FROM retry_inbox WHERE id IN " + list(ids, [](std::int64_t id) { return literal(id); });
}

}  // namespace easyretry::storage::mysql
