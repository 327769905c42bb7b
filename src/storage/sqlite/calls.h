#pragma once
// The requests for tasks, and how they are found: the rows of retry_call, and their entries in retry_lookup, a table of
// integers that leads from keys and business ids to tasks, live and in history.
//
// An entry is written with its task and then left alone: no claim, no end and no move to history touches it. So only
// storing a task pays for a random place in a B-tree. A hash only says "perhaps": the reader compares the texts of the
// row it leads to. An entry that leads to no row is harmless, and is removed with the month of its task.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

enum class LookupPart : std::int64_t {
  keys = 0,         // of every live task, and of at most one finished task a key
  former_keys = 1,  // of tasks that had finished when their key was used again
  businesses = 2,
};

// Does not include the namespace: a query need not name one, and namespaces are few.
std::int64_t lookup_hash(std::string_view key_or_business_id);

// The write side. Calls are written once and left where they are, live or in history, until nothing refers to the task
// any more. For use inside a write transaction only, because the answer of live() must stay true.
class Calls {
 public:
  explicit Calls(Connection& db);

  // The live task that has this key. If there is none, the entries of finished tasks become former keys: a key used a
  // million times is looked up as fast as a new one.
  std::optional<Inserted> live(std::string_view name_space, std::string_view key);

  void add(TaskId id, const NewTask& task, TimePoint now);
  void update_rules(TaskId id, const task::RetryRules& rules);
  // Copies the call for the next generation, with these arguments or its old ones.
  void copy(TaskId from, TaskId to, std::optional<std::string_view> arguments, TimePoint now);
  void remove(TaskId id);        // of a live task
  void remove_ended(TaskId id);  // whose key may have been used again

 private:
  struct Entry {
    std::int64_t key_hash = 0;
    std::optional<std::int64_t> business_hash;
  };
  struct SameHash {
    std::optional<Inserted> live;
    std::vector<std::int64_t> gone;
  };
  static Entry entry_for(std::string_view key, std::string_view business_id);
  SameHash with_hash(std::int64_t hash, std::string_view name_space, std::string_view key);
  std::optional<Entry> entry_of(TaskId id);
  static void run_for(PreparedStatement& statement, TaskId id, const Entry& entry);

  PreparedStatement live_keys_;
  PreparedStatement make_former_;
  PreparedStatement add_entry_;
  PreparedStatement remove_entry_;
  PreparedStatement insert_;
  PreparedStatement update_rules_;
  PreparedStatement copy_;
  PreparedStatement texts_;
  PreparedStatement remove_;
};

}  // namespace easyretry::storage::sqlite
