#include "storage/store.h"

#include "storage/task_walk.h"

namespace easyretry::storage {
namespace {

bool allows(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

bool within(const TimeRange& range, const std::optional<TimePoint>& time) {
  return !range.restricts() || (time && range.contains(*time));
}

}  // namespace

bool matches(const TaskRecord& record, const TaskQuery& query) {
  const TaskInfo& info = record.info;
  return allows(query.name_space, info.name_space) && allows(query.key, info.key) &&
         allows(query.handler, info.handler) && allows(query.business_type, info.business_type) &&
         allows(query.business_id, info.business_id) && (!query.state || query.state == info.state) &&
         (!query.outcome || query.outcome == info.outcome) && query.created_at.contains(info.created_at) &&
         within(query.finished_at, info.finished_at) && (query.requeued || !info.requeued_as);
}

std::string to_string(const StoreInfo& info) {
  const std::string durability = "store " + info.url + ": an acknowledged task survives " + info.durability.words;
  return info.missing.empty() ? durability : durability + "; " + info.missing;
}

// Of the possible conditions of a list, keys, business ids and times are found by an index in every store.
Result<ListPage> Store::scan(const TaskQuery& query) {
  TaskQuery indexed = query;
  indexed.handler.clear();
  indexed.business_type.clear();
  indexed.state.reset();
  indexed.outcome.reset();
  return list(indexed).map(as_page_of(indexed));
}

Result<InsertReply> Store::insert_within(const Transaction&, std::span<const NewTask>) {
  return fail(
      Errc::invalid_argument, "store.insert",
      info().url + " cannot join this transaction; a task can be stored with it only if both are in one database");
}

Result<IntakeReply> Store::take_in(const IntakeQuery&, const Convert&) {
  return fail(Errc::invalid_argument, "store.take_in",
              info().url + " has no inbox; use a store on PostgreSQL, MariaDB or MySQL");
}

Result<BeatReply> Store::beat(const Beat&) {
  return fail(Errc::invalid_argument, "store.beat", info().url + " is for a single instance");
}

Result<BeatReply> Store::members(std::string_view) {
  return fail(Errc::invalid_argument, "store.members", info().url + " is for a single instance");
}

Result<bool> Store::leave(std::string_view, std::string_view) {
  return false;
}

Result<bool> Store::save_series(std::string_view, const SeriesPart&) {
  return false;
}

Result<std::vector<SeriesPart>> Store::saved_series(std::string_view) {
  return std::vector<SeriesPart>{};
}

Result<std::vector<TableInfo>> Store::tables() {
  return fail(Errc::invalid_argument, "store.tables",
              info().url + " has no tables to show; use a store on PostgreSQL, MariaDB or MySQL");
}

Result<std::vector<SplitMove>> Store::split(const SplitRequest&) {
  return fail(Errc::invalid_argument, "store.split",
              info().url + " has no tables to split; use a store on PostgreSQL, MariaDB or MySQL with layout=hash(n)");
}

void Store::announce(const std::string&) {}

// NOLINTNEXTLINE(performance-unnecessary-value-param): stores that have announcements keep it
std::unique_ptr<Subscription> Store::listen(const std::string&, std::function<void()>) {
  return nullptr;
}

}  // namespace easyretry::storage
