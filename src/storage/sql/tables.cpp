#include "storage/sql/tables.h"

#include <algorithm>

#include "storage/history.h"

namespace easyretry::storage::sql {
namespace {

// A table is created this long before its period begins: instances may be down for a day, and clocks differ.
constexpr Millis kAhead = std::chrono::days{2};

}  // namespace

std::string to_text(const Placement& placement) {
  const std::string now = storage::to_text(placement.router.layout());
  return placement.before ? storage::to_text(placement.before->layout()) + ">" + now : now;
}

Placement parse_placement(std::string_view text, int total_shards, Millis window) {
  const auto router = [&](std::string_view layout) { return TableRouter{parse_layout(layout), total_shards, window}; };
  const auto mark = text.find('>');
  if (mark == std::string_view::npos) return {router(text)};
  return {router(text.substr(mark + 1)), router(text.substr(0, mark))};
}

Placement Tables::placement() const {
  const std::lock_guard lock{mutex_};
  return placement_;
}

void Tables::learn(const std::string& layout) {
  const std::lock_guard lock{mutex_};
  take(layout);
}

std::uint64_t Tables::as_of() const {
  const std::lock_guard lock{mutex_};
  return learned_;
}

void Tables::observe(const std::string& layout, std::uint64_t as_of) {
  const std::lock_guard lock{mutex_};
  if (learned_ == as_of) take(layout);
}

void Tables::take(const std::string& layout) {
  if (to_text(placement_) == layout) return;
  placement_ = parse_placement(layout, placement_.router.total_shards(), placement_.router.window());
  ++learned_;
}

std::optional<std::string> Tables::look_again(Session& session) {
  if (!can_be_split()) return std::nullopt;
  const std::uint64_t asked = as_of();
  auto layout = session.schema().meta("layout");
  if (layout) observe(*layout, asked);
  return layout;
}

void Tables::ensure(const std::string& table) {
  if (knows(table) && is_complete(table)) return;
  const auto session = pool_.take();
  const bool history = month_of_history_table(table).has_value();
  if (history) {
    session->schema().create_history(table);
  } else {
    session->schema().create_tasks(table, several() ? UniqueKeys::in_key_table : UniqueKeys::in_task_table);
  }
  const std::lock_guard lock{mutex_};
  known_.insert(table);
  complete_.insert(table);
}

void Tables::complete(Session& session, const std::string& table) {
  if (is_complete(table)) return;
  if (session.in_transaction()) throw MissingTable{table};
  session.schema().complete(table);
  const std::lock_guard lock{mutex_};
  complete_.insert(table);
}

std::vector<std::string> Tables::ensure_tasks(TimePoint now) {
  const TableRouter router = this->router();
  std::vector<TableId> tables = router.all_tables(now);
  const auto ahead = router.tables_ahead(now, kAhead);
  tables.insert(tables.end(), ahead.begin(), ahead.end());
  std::vector<std::string> missing;
  missing.reserve(tables.size());
  for (const TableId table : tables) missing.push_back(router.name(table));
  std::erase_if(missing, [this](const std::string& name) { return knows(name) && is_complete(name); });
  if (missing.empty()) return missing;
  const std::vector<std::string> there = pool_.take()->schema().tables();
  for (const std::string& name : missing) ensure(name);
  std::erase_if(missing, [&](const std::string& name) { return std::binary_search(there.begin(), there.end(), name); });
  return missing;
}

std::string Tables::required(std::string table) const {
  if (!knows(table) || !is_complete(table)) throw MissingTable{std::move(table)};
  return table;
}

bool Tables::knows(const std::string& table) const {
  const std::lock_guard lock{mutex_};
  return known_.contains(table);
}

bool Tables::is_complete(const std::string& table) const {
  const std::lock_guard lock{mutex_};
  return complete_.contains(table);
}

void Tables::know(const std::vector<std::string>& names) {
  const std::lock_guard lock{mutex_};
  known_.insert(names.begin(), names.end());
}

void Tables::forget() {
  const std::lock_guard lock{mutex_};
  known_.clear();
  complete_.clear();
}

bool Tables::exists(Session& session, TableId table, TimePoint now) {
  const TableRouter router = this->router();
  const std::string name = router.name(table);
  if (!knows(name)) {
    if (!router.leaving({&name, 1}, now).empty()) return false;
    know(session.schema().tables());
  }
  if (!knows(name)) return false;
  complete(session, name);
  return true;
}

std::vector<TableId> Tables::scanned(Session& session, TimePoint now) {
  const TableRouter router = this->router();
  std::vector<TableId> tables = router.all_tables(now);
  std::erase_if(tables, [&](TableId table) { return !exists(session, table, now); });
  std::vector<std::string> known;
  {
    const std::lock_guard lock{mutex_};
    known.assign(known_.begin(), known_.end());
  }
  const auto leaving = router.leaving(known, now);
  tables.insert(tables.begin(), leaving.begin(), leaving.end());
  const auto early = router.early(known, now);
  tables.insert(tables.end(), early.begin(), early.end());
  return tables;
}

// This does not cover months of history: ensure() checks their columns first.
std::vector<TableId> Tables::tasks(Session& session) {
  const TableRouter router = this->router();
  std::vector<std::string> names = session.schema().tables();
  std::erase_if(names, [&](const std::string& name) { return !router.parse(name); });
  know(names);
  std::vector<TableId> tables;
  for (const std::string& name : names) {
    complete(session, name);
    tables.push_back(*router.parse(name));
  }
  std::sort(tables.begin(), tables.end());
  return tables;
}

std::vector<TableInfo> Tables::described(Session& session, TimePoint now) const {
  const TableRouter router = this->router();
  using State = TableInfo::State;
  std::vector<TableInfo> tables;
  for (TableFacts& facts : session.schema().table_facts()) {
    TableInfo info{.name = std::move(facts.name), .rows = facts.rows, .bytes = facts.bytes};
    if (const auto month = month_of_history_table(info.name)) {
      info.state = State::history;
      info.begins = begin_of(*month);
    } else if (const auto table = router.parse(info.name)) {
      info.state = !router.leaving({&info.name, 1}, now).empty() ? State::leaving
                   : !router.early({&info.name, 1}, now).empty() ? State::ahead
                                                                 : State::in_use;
      if (router.layout().kind() == Layout::Kind::period)
        info.begins = begin_of({router.layout().length(), table->period});
    }
    tables.push_back(std::move(info));
  }
  return tables;
}

std::vector<std::string> Tables::histories(Session& session) {
  std::vector<std::string> histories = session.schema().tables();
  std::erase_if(histories, [](const std::string& table) { return !month_of_history_table(table); });
  std::sort(histories.rbegin(), histories.rend());
  for (const std::string& table : histories) complete(session, table);
  return histories;
}

}  // namespace easyretry::storage::sql
