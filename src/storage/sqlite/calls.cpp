#include "storage/sqlite/calls.h"

#include "storage/record_columns.h"
#include "storage/sqlite/statements.h"
#include "task/task_key.h"

namespace easyretry::storage::sqlite {
namespace {

std::optional<std::int64_t> ms_or_null(const std::optional<TimePoint>& time) {
  return time ? std::optional{to_ms(*time)} : std::nullopt;
}

// Four parameters, from `first` on.
PreparedStatement& bind_rules(PreparedStatement& statement, int first, const task::RetryRules& rules) {
  return statement.bind(first, rules.max_attempts)
      .bind_or_null(first + 1, ms_or_null(rules.deadline))
      .bind(first + 2, rules.max_duration.count())
      .bind_or_null(first + 3, rules.backoff);
}

}  // namespace

std::int64_t lookup_hash(std::string_view key_or_business_id) {
  return static_cast<std::int64_t>(task::stable_hash(key_or_business_id));
}

Calls::Calls(Connection& db)
    : live_keys_(db.prepare(statements::live_keys)),
      make_former_(db.prepare(statements::make_former)),
      add_entry_(db.prepare(statements::add_to_lookup)),
      remove_entry_(db.prepare(statements::remove_from_lookup)),
      insert_(db.prepare(statements::insert_call)),
      update_rules_(db.prepare(statements::update_rules)),
      copy_(db.prepare(statements::copy_call)),
      texts_(db.prepare(statements::call_texts)),
      remove_(db.prepare(statements::remove_call)) {}

std::optional<Inserted> Calls::live(std::string_view name_space, std::string_view key) {
  const std::int64_t hash = lookup_hash(key);
  const SameHash found = with_hash(hash, name_space, key);
  if (found.live) return found.live;
  for (const std::int64_t id : found.gone) make_former_.bind(1, hash).bind(2, id).run();
  return std::nullopt;
}

Calls::SameHash Calls::with_hash(std::int64_t hash, std::string_view name_space, std::string_view key) {
  enum Column : int { kId, kIsGone, kHasThisKey, kVersion, kNextAt };
  SameHash found;
  live_keys_.bind(1, hash).bind(2, name_space).bind(3, key);
  Rows rows{live_keys_};
  while (rows.next()) {
    if (live_keys_.integer(kIsGone) != 0) {
      found.gone.push_back(live_keys_.integer(kId));
    } else if (live_keys_.integer(kHasThisKey) != 0) {
      found.live = Inserted{.id = TaskId{live_keys_.integer(kId)},
                            .version = live_keys_.integer(kVersion),
                            .next_at = from_ms(live_keys_.integer(kNextAt)),
                            .created = false};
    }
  }
  return found;
}

void Calls::add(TaskId id, const NewTask& task, TimePoint now) {
  const std::string tags = tags_text(task.tags);
  insert_.bind(1, number(id))
      .bind(2, task.key)
      .bind(3, to_ms(now))
      .bind_or_null(4, task.business_type)
      .bind_or_null(5, task.business_id);
  bind_rules(insert_, 6, task.rules)
      .bind(10, task.payload_version)
      .bind(11, task.payload)
      .bind_or_null(12, tags)
      .bind_or_null(13, task.traceparent)
      .run();
  run_for(add_entry_, id, entry_for(task.key, task.business_id));
}

void Calls::update_rules(TaskId id, const task::RetryRules& rules) {
  bind_rules(update_rules_.bind(1, number(id)), 2, rules).run();
}

void Calls::copy(TaskId from, TaskId to, std::optional<std::string_view> arguments, TimePoint now) {
  copy_.bind(1, number(from)).bind(2, number(to)).bind(3, to_ms(now)).bind_or_null(4, arguments.value_or("")).run();
  if (const auto entry = entry_of(to)) run_for(add_entry_, to, *entry);
}

void Calls::remove(TaskId id) {
  if (const auto entry = entry_of(id)) run_for(remove_entry_, id, *entry);
  remove_.bind(1, number(id)).run();
}

void Calls::remove_ended(TaskId id) {
  if (const auto entry = entry_of(id)) {
    const auto former = static_cast<std::int64_t>(LookupPart::former_keys);
    remove_entry_.bind(1, former).bind(2, entry->key_hash).bind(3, number(id)).run();
  }
  remove(id);
}

Calls::Entry Calls::entry_for(std::string_view key, std::string_view business_id) {
  return {.key_hash = lookup_hash(key),
          .business_hash = business_id.empty() ? std::nullopt : std::optional{lookup_hash(business_id)}};
}

std::optional<Calls::Entry> Calls::entry_of(TaskId id) {
  texts_.bind(1, number(id));
  Rows rows{texts_};
  if (!rows.next()) return std::nullopt;
  return entry_for(texts_.text(0), texts_.text(1));
}

void Calls::run_for(PreparedStatement& statement, TaskId id, const Entry& entry) {
  const auto run = [&](LookupPart part, std::int64_t hash) {
    statement.bind(1, static_cast<std::int64_t>(part)).bind(2, hash).bind(3, number(id)).run();
  };
  run(LookupPart::keys, entry.key_hash);
  if (entry.business_hash) run(LookupPart::businesses, *entry.business_hash);
}

}  // namespace easyretry::storage::sqlite
