#pragma once
// load, find, list and count. For the last two, ids are read from sorted sets in slices, and records only of ids that
// may match: an id contains the time of its creation, its shard and a part of its key's digest.

#include <functional>
#include <span>
#include <vector>

#include "storage/redis/parts.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

// Store::load, with lua/load.lua: load.cpp.
LoadReply load(Parts& parts, const LoadQuery& query);

class Search {
 public:
  Search(Parts& parts, int total_shards) : parts_(parts), total_shards_(total_shards) {}

  std::vector<TaskRecord> find(std::span<const TaskId> ids);
  std::vector<TaskRecord> list(const TaskQuery& query);
  std::int64_t count(const TaskQuery& query);

 private:
  using Visit = std::function<bool(TaskRecord)>;  // false: enough

  // A namespace in one part.
  struct Scope {
    Part& part;
    std::string name_space;
  };

  std::vector<Scope> scopes_of(const TaskQuery& query);
  bool may_match(TaskId id, const TaskQuery& query) const;
  void each(const Scope& scope, const TaskQuery& query, const Visit& visit);
  void each_live(const Scope& scope, const TaskQuery& query, const Visit& visit);
  void each_ended(const Scope& scope, const TaskQuery& query, const Visit& visit);
  bool visit_matches(std::span<const TaskId> ids, const TaskQuery& query, const Visit& visit);
  std::vector<TaskId> ended_ids(Part& part, const std::string& key, const TaskQuery& query);
  static std::optional<std::int64_t> counted_by_server(const Scope& scope, const TaskQuery& query);
  static std::int64_t count_marks(const Scope& scope, const TaskQuery& query);
  static std::int64_t count_members(Part& part, const std::string& set, std::span<const std::string> ids,
                                    const TimeRange& range);

  Parts& parts_;
  const int total_shards_;
};

}  // namespace easyretry::storage::redis
