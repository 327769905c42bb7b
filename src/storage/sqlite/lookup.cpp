#include "storage/sqlite/lookup.h"

#include <vector>

#include "storage/sqlite/columns.h"
#include "storage/sqlite/statements.h"
#include "task/task_key.h"

namespace easyretry::storage::sqlite {
namespace {

Statement& bind_entry(Statement& statement, LookupPart part, std::int64_t hash, TaskId id) {
  return statement.bind(1, static_cast<std::int64_t>(part)).bind(2, hash).bind(3, number(id));
}

}  // namespace

std::int64_t lookup_hash(std::string_view key_or_business_id) {
  return static_cast<std::int64_t>(task::stable_hash(key_or_business_id));
}

Lookup::Entry Lookup::entry_for(std::string_view key, std::string_view business_id) {
  return {.key_hash = lookup_hash(key),
          .business_hash = business_id.empty() ? std::nullopt : std::optional{lookup_hash(business_id)}};
}

Lookup::Lookup(Connection& db)
    : bearers_(db.prepare(sql::bearers())),
      make_former_(db.prepare(sql::make_former())),
      add_(db.prepare(sql::add_to_lookup())),
      remove_(db.prepare(sql::remove_from_lookup())) {}

struct Lookup::Met {
  std::optional<Inserted> live;
  std::vector<std::int64_t> gone;
};

Lookup::Met Lookup::meet(std::int64_t hash, std::string_view space, std::string_view key) {
  enum Column : int { kId, kIsGone, kIsTheOne, kVersion, kNextAt };
  Met met;
  bearers_.bind(1, hash).bind(2, space).bind(3, key);
  Rows rows{bearers_};
  while (rows.next()) {
    if (bearers_.integer(kIsGone) != 0) {
      met.gone.push_back(bearers_.integer(kId));
    } else if (bearers_.integer(kIsTheOne) != 0) {
      met.live = Inserted{.id = TaskId{bearers_.integer(kId)},
                          .version = bearers_.integer(kVersion),
                          .next_at = from_ms(bearers_.integer(kNextAt)),
                          .created = false};
    }
  }
  return met;
}

std::optional<Inserted> Lookup::live(std::string_view space, std::string_view key) {
  const std::int64_t hash = lookup_hash(key);
  const Met met = meet(hash, space, key);
  if (met.live) return met.live;
  for (const std::int64_t id : met.gone) make_former_.bind(1, hash).bind(2, id).run();
  return std::nullopt;
}

void Lookup::add(TaskId id, const Entry& entry) {
  bind_entry(add_, LookupPart::keys, entry.key_hash, id).run();
  if (entry.business_hash) bind_entry(add_, LookupPart::businesses, *entry.business_hash, id).run();
}

void Lookup::remove(TaskId id, const Entry& entry) {
  bind_entry(remove_, LookupPart::keys, entry.key_hash, id).run();
  if (entry.business_hash) bind_entry(remove_, LookupPart::businesses, *entry.business_hash, id).run();
}

}  // namespace easyretry::storage::sqlite
