#pragma once
// Storing tasks: insert and requeue.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/redis/server.h"
#include "storage/redis/task_ids.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

class Inserting {
 public:
  Inserting(Server& server, int total_shards) : server_(server), total_shards_(total_shards) {}

  // `begun` is set when some of many are stored. Throws Refusal for a live key that must not be.
  InsertReply insert(std::span<const NewTask* const> tasks, bool& begun);
  // Of tasks that have ended; nullopt where the key is live.
  std::vector<std::optional<TaskId>> start_again(std::span<const TaskRecord> ended, bool& begun);

 private:
  struct Entry;

  Entry entry_of(const NewTask& task);
  Entry entry_of(const TaskRecord& next);
  void name(Entry& entry, const TaskRecord& record, bool with_rules);
  void draw_id(Entry& entry);
  InsertReply store_all(std::vector<Entry>& entries, bool& begun);
  InsertReply store(std::span<Entry> entries);
  std::optional<InsertReply> try_to_store(std::span<Entry> entries);
  std::string add_sets(ScriptCall& call, std::span<const Entry> entries, std::span<const std::size_t> order);
  static std::vector<std::size_t> grouped(std::span<const Entry> entries);
  std::optional<InsertReply> stored(const Reply& reply, std::span<Entry> entries, std::span<const std::size_t> order);

  Server& server_;
  const int total_shards_;
  TaskIds ids_;
};

}  // namespace easyretry::storage::redis
