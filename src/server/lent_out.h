#pragma once
// Since when workers elsewhere have had the tasks that were lent to them here, to measure how long they took.
// Thread-safe.

#include <map>
#include <mutex>
#include <optional>

#include <easyretry/time.h>

#include "task/record.h"

namespace easyretry::server {

class LentOut {
 public:
  explicit LentOut(std::size_t most) : most_(most) {}

  void lent(const task::Ticket& ticket, Instant at) {
    const std::lock_guard lock{mutex_};
    since_[ticket] = at;
    // Ids ascend with time: the lowest is likely one whose worker has died.
    if (since_.size() > most_) since_.erase(since_.begin());
  }

  // Nullopt: lent by another instance, before a restart, or too long ago.
  std::optional<Instant> answered(const task::Ticket& ticket) {
    const std::lock_guard lock{mutex_};
    const auto found = since_.find(ticket);
    if (found == since_.end()) return std::nullopt;
    const Instant since = found->second;
    since_.erase(found);
    return since;
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::map<task::Ticket, Instant> since_;  // guarded by mutex_
};

}  // namespace easyretry::server
