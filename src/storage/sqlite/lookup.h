#pragma once
// Who bears a key or a business id, live and in history: retry_lookup, a table of nothing but integers.
//
// An entry is written with its task and then left alone: no claim, no end and no move to history touches it, so that
// only storing a task pays for a random place in a B-tree. A hash only says "perhaps"; whoever looks something up
// compares the texts of the row it leads to. An entry that leads to no row is harmless, and goes when the month of its
// task does.

#include <cstdint>
#include <optional>
#include <string_view>

#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

enum class LookupPart : std::int64_t {
  keys = 0,         // of every live task, and at most one finished task a key
  former_keys = 1,  // of tasks that were finished when their key was used again
  businesses = 2,
};

// Without the namespace: a query need not name one, and namespaces are few.
std::int64_t lookup_hash(std::string_view key_or_business_id);

// The write side. For use inside a write transaction only: that is what makes live() a lasting answer.
class Lookup {
 public:
  struct Entry {
    std::int64_t key_hash = 0;
    std::optional<std::int64_t> business_hash;
  };
  static Entry entry_for(std::string_view key, std::string_view business_id);

  explicit Lookup(Connection& db);

  // The live task that has this key. Where there is none, the entries of finished ones become former keys: a key used a
  // million times is looked up as fast as a new one.
  std::optional<Inserted> live(std::string_view space, std::string_view key);

  void add(TaskId id, const Entry& entry);
  void remove(TaskId id, const Entry& entry);

 private:
  struct Met;
  Met meet(std::int64_t hash, std::string_view space, std::string_view key);

  Statement bearers_;
  Statement make_former_;
  Statement add_;
  Statement remove_;
};

}  // namespace easyretry::storage::sqlite
