#include "storage/mysql/pauses.h"

#include "storage/mysql/literals.h"

namespace easyretry::storage::mysql {

std::string create_pauses() {
  return "CREATE TABLE IF NOT EXISTS retry_pause (namespace VARBINARY(128) NOT NULL, method_name VARBINARY(512) NOT "
         "NULL COMMENT 'handler', since BIGINT NOT NULL, why VARBINARY(2048) NOT NULL, "
         "PRIMARY KEY (namespace, method_name)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 "
         "COLLATE=utf8mb4_bin COMMENT='paused handlers: their tasks are not claimed'";
}

// Stored first and taken back: one that is paused already is no more than there were.
Pausing pause(Connection& connection, std::string_view space, const PausedHandler& handler) {
  const auto stored = connection.run("INSERT INTO retry_pause (namespace, method_name, since, why) VALUES (" +
                                     bytes(space) + ", " + bytes(handler.handler) + ", " + literal(handler.since) +
                                     ", " + bytes(handler.why) + ") ON DUPLICATE KEY UPDATE why = why");
  if (stored == 0) return Pausing::was_paused;
  const auto there = std::stoull(connection.ask("SELECT COUNT(*) FROM retry_pause WHERE namespace = " + bytes(space)));
  if (there <= kMostPaused) return Pausing::done;
  resume(connection, space, handler.handler);
  return Pausing::too_many;
}

bool resume(Connection& connection, std::string_view space, std::string_view handler) {
  return connection.run("DELETE FROM retry_pause WHERE namespace = " + bytes(space) +
                        " AND method_name = " + bytes(handler)) > 0;
}

// The time is told also where nothing is paused.
PausedReply paused(Connection& connection, std::string_view space, std::optional<TimePoint> now) {
  Rows rows = connection.select("SELECT " + time_or_servers(now) +
                                ", method_name, since, why FROM (SELECT 1 AS one) AS clock "
                                "LEFT JOIN retry_pause ON namespace = " +
                                bytes(space) + " ORDER BY method_name");
  PausedReply reply;
  while (rows.next()) {
    reply.now = from_ms(rows.integer(0));
    if (rows.is_null(1)) continue;
    reply.handlers.push_back({std::string{rows.text(1)}, from_ms(rows.integer(2)), std::string{rows.text(3)}});
  }
  return reply;
}

}  // namespace easyretry::storage::mysql
