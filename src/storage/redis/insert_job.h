#pragma once
// Tasks that one part is asked to store: lua/insert.lua.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/redis/parts.h"
#include "storage/redis/records.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

// As in lua/insert.lua.
enum InsertFlag : unsigned {
  kReject = 1,
  kUpdate = 2,
  kTemplate = 4,
  kFailedNow = 8,
  kInitial = 16,
  kOwnDue = 32,
  kAgain = 64,
};

struct InsertEntry {
  std::size_t place = 0;  // in the batch
  bool first = true;      // of its key
  std::string space;
  std::string key;
  task::KeyDigest digest{};
  ShardId shard{};
  TaskId id{};
  NameNumbers names;
  unsigned flags = 0;
  std::optional<TimePoint> due_at;
  Millis delay{0};
  TimePoint next_at{};
  std::string body;
  std::string meta{};  // with kTemplate
  TaskId former{};     // with kAgain: the ended task that it starts again

  // By what is taken for the server's clock.
  void make_at(TimePoint now);
  bool rejects() const { return (flags & kReject) != 0; }
  std::size_t bytes() const { return body.size() + meta.size(); }
};

// A task with the key of one that lives, where that is not wanted.
[[noreturn]] void refuse_duplicate(const InsertEntry& entry, TaskId live);

class InsertJob final : public Job {
 public:
  using DrawId = std::function<void(InsertEntry&)>;
  InsertJob(Part& part, std::vector<InsertEntry> entries, DrawId draw_id);

  const std::vector<InsertEntry>& entries() const { return entries_; }
  const std::vector<Inserted>& inserted() const { return inserted_; }  // of each of the entries, if it did not fail
  bool begun() const;
  // The id that an entry has if it is stored, also by a call whose reply is lost; 0: it met another task.
  TaskId id_if_stored(std::size_t entry) const;
  TimePoint now() const { return now_; }

  bool done() const override { return from_ == entries_.size(); }
  ScriptCall next() override;
  void take(const Reply& reply) override;

 private:
  std::span<InsertEntry> slice();
  std::string add_sets(ScriptCall& call);
  bool must_be_sent_again(const Reply& reply);
  void stored(const Reply& reply);

  const DrawId draw_id_;
  std::vector<InsertEntry> entries_;
  std::vector<Inserted> inserted_;
  std::size_t seconds_from_ = 0;  // those that are not the first of their key
  bool rejects_ = false;          // any of the first
  std::size_t from_ = 0;
  int tries_ = 0;
  std::vector<std::size_t> order_;  // of what is asked for: by namespace and shard, as the script wants them
  TimePoint now_{};
};

}  // namespace easyretry::storage::redis
