#pragma once
// What all instances of one database have to agree on: the first one writes it down, and one that is configured
// differently is refused and told what helps.

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "storage/sql/inserts.h"
#include "storage/sql/server_store.h"
#include "storage/sql/session.h"
#include "storage/sql/tables.h"

namespace easyretry::storage::sql {

// Throws StoreError. The tables learn the layout, which may be between two while they are being split.
void agree(Session& session, const ServerOptions& options, Tables& tables);

// The number of shards is not changed while instances work, but one may have been forgotten. Safe to call from any
// thread.
class ShardWatch {
 public:
  ShardWatch(const ServerOptions& options, Inserts& inserts) : options_(options), inserts_(inserts) {}
  // Now and then. Nothing is stored any more by a number that is no longer right.
  void look(Session& session);
  // What retry_meta says. Gives why nothing more may be done by the old number.
  std::optional<std::string> hear(const std::optional<std::string>& total_shards);

 private:
  using Steady = std::chrono::steady_clock;

  const ServerOptions& options_;
  Inserts& inserts_;
  std::atomic<Steady::time_point> looked_{Steady::now()};
};

}  // namespace easyretry::storage::sql
