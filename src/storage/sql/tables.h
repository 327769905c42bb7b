#pragma once
// Which tables there are, as far as this process knows. Safe to use from any thread.

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "storage/sql/pool.h"

namespace easyretry::storage::sql {

class Tables {
 public:
  explicit Tables(Pool& pool) : pool_(pool) {}

  // Makes a month of history where it is missing. Not to be called inside a transaction: some servers end it for that.
  void ensure_history(const std::string& table);
  bool knows(const std::string& table) const;
  void forget();  // one is missing that was known: all are looked at again

  // Newest first, as the server has them now.
  std::vector<std::string> histories(Session& session) const;

 private:
  Pool& pool_;
  mutable std::mutex mutex_;
  std::set<std::string> known_;  // guarded by mutex_
};

}  // namespace easyretry::storage::sql
