#pragma once
// How many shards a store has, and how to change that while no instance works on it.
//
// retry_meta has the count: `64`, or `64>32` while it is being changed. The shard of a task is that of its id, modulo
// the count. So a task stays in its table whatever the count becomes, as long as the number of tables divides it, and a
// count that is higher than ever before changes no task.
//
// 1. The count becomes 64>32. From now on no instance opens the store.
// 2. Rows get the shards that their ids have under the new count, a few thousand per transaction. Ids, keys, states and
//    tables stay the same.
// 3. The count becomes 32.
//
// If this is interrupted anywhere, run it again: it continues from there.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/error.h>
#include <easyretry/task.h>

namespace easyretry::storage {

struct ShardCount {
  int shards = 0;
  std::optional<int> becoming{};

  friend bool operator==(const ShardCount&, const ShardCount&) = default;
};

std::string to_text(const ShardCount& count);
// Throws std::invalid_argument.
ShardCount parse_shard_count(std::string_view text);

// Why an instance that is configured with `mine` may not work on the store, and what to do; nullopt if it may.
std::optional<std::string> shard_refusal(const ShardCount& there, int mine);

// The shard of a row by its `id`, in SQL that all databases understand.
std::string shard_by_id(int total_shards);

// The settings that a store was created with, as in retry_meta.
struct StoredSettings {
  std::string total_shards = "64";
  std::string layout = "single";
};

// Rows of one table with ids greater than `after`, ascending.
struct ShardPageQuery {
  std::string table;
  int total_shards = 0;  // the new count
  TaskId after{};
  std::size_t limit = 0;
};

struct ShardPage {
  std::int64_t rows = 0;
  std::int64_t misnumbered = 0;  // rows whose shard does not match their ids
  std::int64_t leased = 0;       // rows that a worker may be running
  TaskId last{};
  std::string holder{};  // of one of the leases
};

struct ReshardPlan {
  int from = 0;
  int to = 0;
  bool begun = false;  // an earlier run was interrupted
  std::size_t tables = 0;
  std::int64_t rows = 0;
  std::int64_t misnumbered = 0;
  std::int64_t leased = 0;
  std::string holder{};

  bool nothing_to_do() const { return from == to && !begun && misnumbered == 0; }
  std::string running_tasks() const;  // for messages; some tasks are leased
};

struct ReshardProgress {
  std::size_t table = 0;  // counted from 1
  std::int64_t rows = 0;  // read so far, in all tables
};

struct ReshardRequest {
  int shards = 0;
  bool only_plan = false;
  std::function<void(const ReshardProgress&)> progress = [](const ReshardProgress&) {};
};

// The rows of a store, as resharding needs them. Each kind of store implements this.
class ShardedRows {
 public:
  virtual ~ShardedRows() = default;
  virtual StoredSettings settings() = 0;
  virtual std::vector<std::string> tables() = 0;  // of live tasks
  virtual ShardPage look(const ShardPageQuery& query) = 0;
  // In one transaction, which requires that the count is `expected`. Returns the page as it was before; nullopt: the
  // count has changed meanwhile, and no row was changed.
  virtual std::optional<ShardPage> renumber(const ShardPageQuery& query, const ShardCount& expected) = 0;
  // Adds the number to the earlier numbers of the store (StoreInfo::earlier_shards). False: another process changed
  // them at the same moment. A store with a single instance divides nothing and keeps no earlier numbers.
  virtual bool remember(int /*shards*/) { return true; }
  // Changes the count. False: it is no longer `from`, and stays as it is.
  virtual bool change(const ShardCount& from, const ShardCount& to) = 0;
};

// Returns the work that there was. Throws std::invalid_argument for a count that the store cannot have, and StoreError
// while instances are running tasks; in both cases nothing was changed.
ReshardPlan reshard(ShardedRows& store, const std::string& where, const ReshardRequest& request);

// For a store that does not exist yet.
StoreError nothing_there(const std::string& where, const std::string& url);

// The numbers of shards that a store had before, in the row `earlier_shards` of retry_meta: `64,32`, the latest last.
//
// Returns the text with one more number. Only the latest eight are kept: older tasks have ended by then.
std::string add_earlier_shards(std::string_view text, int shards);
// The numbers below `total_shards`, ascending. Throws std::invalid_argument.
std::vector<int> parse_earlier_shards(std::string_view text, int total_shards);

}  // namespace easyretry::storage
