#pragma once
// Another number of shards for a store that nobody works on. Cut off anywhere, the same again goes on from there.
//
// 1. Its number becomes 64>32: no instance opens it any more.
// 2. Rows get the shards that their ids have among the new number, a few thousand a transaction. Ids, keys, states and
//    tables stay. More shards than there ever were change no row.
// 3. Its number becomes 32.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <easyretry/error.h>
#include <easyretry/task.h>

#include "storage/shard_count.h"

namespace easyretry::storage {

// What a store was made with, as its retry_meta says.
struct StoredSettings {
  std::string total_shards = "64";
  std::string layout = "single";
};

// Rows of one table in ascending order of their ids, from the one after `after`.
struct ShardPageQuery {
  std::string table;
  int total_shards = 0;  // there are to be
  TaskId after{};
  std::size_t limit = 0;
};

struct ShardPage {
  std::int64_t rows = 0;
  std::int64_t misnumbered = 0;  // are in another shard than their ids lead to
  std::int64_t leased = 0;       // by somebody who may be at work
  TaskId last{};
  std::string holder{};  // of one of the leases
};

struct ReshardPlan {
  int from = 0;
  int to = 0;
  bool begun = false;  // before, and cut off
  std::size_t tables = 0;
  std::int64_t rows = 0;
  std::int64_t misnumbered = 0;
  std::int64_t leased = 0;
  std::string holder{};

  bool nothing_to_do() const { return from == to && !begun && misnumbered == 0; }
};

struct ReshardProgress {
  std::size_t table = 0;  // counted from 1
  std::int64_t rows = 0;  // of all tables, looked at by now
};

struct ReshardRequest {
  int shards = 0;
  bool only_plan = false;
  std::function<void(const ReshardProgress&)> progress = [](const ReshardProgress&) {};
};

// What a kind of store does for it.
class ShardedRows {
 public:
  virtual ~ShardedRows() = default;
  virtual StoredSettings settings() = 0;
  virtual std::vector<std::string> tables() = 0;  // of what is to be done
  virtual ShardPage look(const ShardPageQuery& query) = 0;
  // In one transaction, in which the count is `expected`; gives the page as it was. Nothing: the count is another one
  // by now, and no row was changed.
  virtual std::optional<ShardPage> renumber(const ShardPageQuery& query, const ShardCount& expected) = 0;
  // Of total_shards. False: it is not `from` any more, and stays.
  virtual bool change(const ShardCount& from, const ShardCount& to) = 0;
};

// Gives what was to be done. Throws std::invalid_argument for a number that the store cannot have, and StoreError while
// instances are at work; then nothing was changed.
ReshardPlan reshard(ShardedRows& store, const std::string& where, const ReshardRequest& request);

// For a store that nobody has made.
StoreError nothing_there(const std::string& where, const std::string& url);

}  // namespace easyretry::storage
