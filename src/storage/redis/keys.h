#pragma once
// The keys of a part of a store, the numbers of names in it, and the ids of its tasks.

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/task.h>

#include "task/task_id.h"
#include "task/task_key.h"

namespace easyretry::storage::redis {

// All keys have the hash tag of the part: {prefix}:body. docs/redis.md lists them.
class Keys {
 public:
  explicit Keys(std::string_view tag) : tag_("{" + std::string{tag} + "}:") {}

  std::string store() const { return tag_ + "store"; }  // what the store was created with, and the numbers of names
  std::string body() const { return tag_ + "body"; }    // id → the fixed part of a live task
  std::string meta() const { return tag_ + "meta"; }    // id → the part that changes, once it has changed
  std::string done() const { return tag_ + "done"; }    // id → a task that has ended
  std::string requeued() const { return tag_ + "requeued"; }  // id → the id it was requeued as; removed with `done`

  std::string results() const { return tag_ + "results"; }  // id → the result of an ended task, while it is kept
  std::string results_until() const { return tag_ + "results_until"; }  // id → when its result goes

  // Per namespace.
  std::string keys(std::string_view name_space) const { return of("keys", name_space); }  // digest of a key → live task
  std::string counts(std::string_view name_space) const {
    return of("counts", name_space);
  }  // day, kind, handler → tasks
  std::string ended(std::string_view name_space) const { return of("ended", name_space); }  // id → end; no failures
  std::string dead(std::string_view name_space) const { return of("dead", name_space); }    // id → end; failures
  std::string swept(std::string_view name_space) const { return of("swept", name_space); }  // kind, handler → end
  std::string members(std::string_view name_space) const { return of("members", name_space); }
  std::string paused(std::string_view name_space) const { return of("paused", name_space); }  // handler → since, why
  std::string series(std::string_view name_space) const { return of("series", name_space); }  // part → counts over time
  // Live tasks, by due time.
  std::string due(ShardId shard, std::string_view name_space) const {
    return of("due:" + std::to_string(static_cast<int>(shard)), name_space);
  }

 private:
  std::string of(std::string_view what, std::string_view name_space) const {
    std::string key{tag_};
    return key.append(what).append(":").append(name_space);
  }

  const std::string tag_;
};

// A handler has a number for each class in which it has tasks. So a member of a set of due tasks tells its class, and
// an earlier release, which looks at the text of a name alone, takes such a task for a normal one.
enum class NameKind : char {
  name_space = 's',
  handler = 'h',
  urgent_handler = 'u',
  background_handler = 'g',
  backoff = 'b'
};

NameKind kind_for(TaskClass task_class);

struct Name {
  unsigned number = 0;
  std::string text{};
};

// The stored form: "s:shop".
std::string stored_name(NameKind kind, std::string_view text);

// The numbers of names that this process has learned. Namespaces, handlers and backoffs are few and tasks are many, so
// tasks store numbers, which lua/name.lua assigns. Safe to use from any thread.
class Names {
 public:
  std::optional<unsigned> number(NameKind kind, std::string_view text) const;
  std::optional<std::string> text(unsigned number) const;
  TaskClass class_of(unsigned handler) const;  // normal for any other number
  std::vector<Name> all(NameKind kind) const;
  void learn(std::string_view stored, unsigned number);
  void forget();

 private:
  mutable std::shared_mutex mutex_;  // guards the next two
  std::map<std::string, unsigned, std::less<>> numbers_;
  std::map<unsigned, std::string> stored_;
};

// The sequence number of an id is the first 10 bits of the key's digest. So the sorted set that maps a key to its task
// stores only the other 53 bits, which fit exactly into a score, and it is also ordered by id.
unsigned sequence_of(const task::KeyDigest& digest);
// The upper 53 bits of an id, and back.
double upper_bits(TaskId id);
TaskId id_from(double upper, const task::KeyDigest& digest);

// Never draws an id twice in this process: ids of one shard and sequence have a millisecond each, borrowed from the
// future if necessary. Two processes that store the same key in the same millisecond must not draw the same id: when a
// reply is lost, each would take the other's task for its own. So each process is ahead by a random time of up to a
// minute. Safe to use from any thread.
class TaskIds {
 public:
  TaskIds();
  TaskId next(TimePoint now, ShardId shard, unsigned sequence);

 private:
  using OfShard = std::array<TimePoint, 1U << task::kSequenceBits>;

  const Millis ahead_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<OfShard>> last_;  // by shard: 8 KiB for each that was used
};

}  // namespace easyretry::storage::redis
