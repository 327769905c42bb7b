#include "storage/sql/tables.h"

#include <algorithm>

#include "storage/history_table.h"

namespace easyretry::storage::sql {

void Tables::ensure_history(const std::string& table) {
  if (knows(table)) return;
  const auto session = pool_.take();
  session->create_history(table);
  const std::lock_guard lock{mutex_};
  known_.insert(table);
}

bool Tables::knows(const std::string& table) const {
  const std::lock_guard lock{mutex_};
  return known_.contains(table);
}

void Tables::forget() {
  const std::lock_guard lock{mutex_};
  known_.clear();
}

std::vector<std::string> Tables::histories(Session& session) const {
  std::vector<std::string> histories = session.tables();
  std::erase_if(histories, [](const std::string& table) { return !month_of_history_table(table); });
  std::sort(histories.rbegin(), histories.rend());
  return histories;
}

}  // namespace easyretry::storage::sql
