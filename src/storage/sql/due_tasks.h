#pragma once

#include <optional>
#include <string>

#include "storage/sql/inserts.h"
#include "storage/sql/session.h"
#include "storage/sql/tables.h"

namespace easyretry::storage::sql {

// The read side of `load`. With one table of tasks it is one statement, which even an idle instance runs every few
// seconds. With several tables it is one statement per table, and one before them.
class DueTasks {
 public:
  DueTasks(std::string where, Tables& tables, ShardWatch& shards)
      : where_(std::move(where)), tables_(tables), shards_(shards) {}

  // `now` replaces the server's time. Throws Refusal.
  LoadReply load(Session& session, const LoadQuery& query, std::optional<TimePoint> now);

 private:
  DuePage in_several_tables(Session& session, const LoadQuery& query, std::optional<TimePoint> now);
  void check(const Glance& glance);

  const std::string where_;
  Tables& tables_;
  ShardWatch& shards_;
};

}  // namespace easyretry::storage::sql
