#include "storage/sqlite/calls.h"

#include "storage/sqlite/columns.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {
namespace {

std::optional<std::int64_t> ms_or_null(const std::optional<TimePoint>& time) {
  return time ? std::optional{to_ms(*time)} : std::nullopt;
}

// In four places from `first` on.
Statement& bind_rules(Statement& statement, int first, const task::RetryRules& rules) {
  return statement.bind(first, rules.max_attempts)
      .bind_or_null(first + 1, ms_or_null(rules.deadline))
      .bind(first + 2, rules.max_duration.count())
      .bind_or_null(first + 3, rules.backoff);
}

}  // namespace

Calls::Calls(Connection& db, Lookup& lookup)
    : lookup_(lookup),
      add_(db.prepare(sql::insert_call())),
      update_rules_(db.prepare(sql::update_rules())),
      copy_(db.prepare(sql::copy_call())),
      texts_(db.prepare(sql::call_texts())),
      remove_(db.prepare(sql::remove_call())) {}

void Calls::add(TaskId id, const NewTask& task, TimePoint now) {
  const std::string tags = tags_text(task.tags);
  add_.bind(1, number(id))
      .bind(2, task.key)
      .bind(3, to_ms(now))
      .bind_or_null(4, task.business_type)
      .bind_or_null(5, task.business_id);
  bind_rules(add_, 6, task.rules)
      .bind(10, task.payload_version)
      .bind(11, task.payload)
      .bind_or_null(12, tags)
      .bind_or_null(13, task.traceparent)
      .run();
  lookup_.add(id, Lookup::entry_for(task.key, task.business_id));
}

void Calls::update_rules(TaskId id, const task::RetryRules& rules) {
  bind_rules(update_rules_.bind(1, number(id)), 2, rules).run();
}

void Calls::copy(TaskId from, TaskId to, TimePoint now) {
  copy_.bind(1, number(from)).bind(2, number(to)).bind(3, to_ms(now)).run();
  if (const auto entry = entry_of(to)) lookup_.add(to, *entry);
}

void Calls::remove(TaskId id) {
  if (const auto entry = entry_of(id)) lookup_.remove(id, *entry);
  remove_.bind(1, number(id)).run();
}

std::optional<Lookup::Entry> Calls::entry_of(TaskId id) {
  texts_.bind(1, number(id));
  Rows rows{texts_};
  if (!rows.next()) return std::nullopt;
  return Lookup::entry_for(texts_.text(0), texts_.text(1));
}

}  // namespace easyretry::storage::sqlite
