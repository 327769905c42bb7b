#include "storage/postgres/pauses.h"

#include "storage/postgres/batch.h"
#include "storage/postgres/statements.h"
#include "storage/record_columns.h"

namespace easyretry::storage::postgres {

std::string create_pauses() {
  return "CREATE TABLE IF NOT EXISTS retry_pause (namespace text COLLATE \"C\" NOT NULL, "
         "method_name text COLLATE \"C\" NOT NULL, since bigint NOT NULL, why text NOT NULL, "
         "PRIMARY KEY (namespace, method_name));"
         "COMMENT ON TABLE retry_pause IS 'EasyRetry: paused handlers: their tasks are not claimed'";
}

// Stored first and taken back: one that is paused already is no more than there were.
Pausing pause(Connection& db, std::string_view space, const PausedHandler& handler) {
  const Rows stored = db.run(
      "INSERT INTO retry_pause (namespace, method_name, since, why) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING "
      "RETURNING 1",
      Params{}.add(space).add(handler.handler).add(to_ms(handler.since)).add(handler.why));
  if (stored.size() == 0) return Pausing::was_paused;
  const Rows there = db.run("SELECT count(*) FROM retry_pause WHERE namespace = $1", Params{}.add(space));
  if (static_cast<std::size_t>(there.integer(0, 0)) <= kMostPaused) return Pausing::done;
  resume(db, space, handler.handler);
  return Pausing::too_many;
}

bool resume(Connection& db, std::string_view space, std::string_view handler) {
  return db.run("DELETE FROM retry_pause WHERE namespace = $1 AND method_name = $2 RETURNING 1",
                Params{}.add(space).add(handler))
             .size() > 0;
}

// The time is told also where nothing is paused.
PausedReply paused(Connection& db, std::string_view space, std::optional<TimePoint> now) {
  static const std::string statement = std::string{"SELECT coalesce($2, "} + statements::kServerTime +
                                       "), method_name, since, why FROM (SELECT) AS clock LEFT JOIN retry_pause ON "
                                       "namespace = $1 ORDER BY method_name";
  const Rows rows = db.run(statement, Params{}.add(space).add(ms(now)));
  PausedReply reply{from_ms(rows.integer(0, 0)), {}};
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.is_null(i, 1)) continue;
    reply.handlers.push_back({std::string{rows.text(i, 1)}, from_ms(rows.integer(i, 2)), std::string{rows.text(i, 3)}});
  }
  return reply;
}

}  // namespace easyretry::storage::postgres
