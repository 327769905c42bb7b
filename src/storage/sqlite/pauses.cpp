#include "storage/sqlite/pauses.h"

#include "storage/sqlite/columns.h"

namespace easyretry::storage::sqlite {
namespace {

std::size_t count_paused(Connection& db, std::string_view space) {
  Statement count = db.prepare("SELECT count(*) FROM retry_pause WHERE namespace = ?1");
  count.bind(1, space);
  Rows rows{count};
  return rows.next() ? static_cast<std::size_t>(count.integer(0)) : 0;
}

}  // namespace

// Stored first and taken back: one that is paused already is no more than there were.
Pausing pause(Connection& db, std::string_view space, const PausedHandler& handler) {
  Statement insert = db.prepare("INSERT OR IGNORE INTO retry_pause VALUES (?1, ?2, ?3, ?4)");
  insert.bind(1, space).bind(2, handler.handler).bind(3, to_ms(handler.since)).bind(4, handler.why);
  if (insert.run() == 0) return Pausing::was_paused;
  if (count_paused(db, space) <= kMostPaused) return Pausing::done;
  resume(db, space, handler.handler);
  return Pausing::too_many;
}

bool resume(Connection& db, std::string_view space, std::string_view handler) {
  Statement remove = db.prepare("DELETE FROM retry_pause WHERE namespace = ?1 AND method_name = ?2");
  return remove.bind(1, space).bind(2, handler).run() > 0;
}

std::vector<PausedHandler> paused(Connection& db, std::string_view space) {
  Statement select =
      db.prepare("SELECT method_name, since, why FROM retry_pause WHERE namespace = ?1 ORDER BY method_name");
  select.bind(1, space);
  std::vector<PausedHandler> handlers;
  Rows rows{select};
  while (rows.next()) {
    handlers.push_back({std::string{select.text(0)}, from_ms(select.integer(1)), std::string{select.text(2)}});
  }
  return handlers;
}

}  // namespace easyretry::storage::sqlite
