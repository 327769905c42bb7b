#pragma once
// The keys of a part of a store, and the numbers of names in it.

#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/task.h>

namespace easyretry::storage::redis {

// All keys have the hash tag of the part: {prefix}:body. docs/redis.md lists them.
class Keys {
 public:
  explicit Keys(std::string_view tag) : tag_("{" + std::string{tag} + "}:") {}

  std::string store() const { return tag_ + "store"; }  // what the store was created with, and the numbers of names
  std::string body() const { return tag_ + "body"; }    // id → the part of a live task that never changes
  std::string meta() const { return tag_ + "meta"; }    // id → the part that changes, once it has changed
  std::string done() const { return tag_ + "done"; }    // id → a task that has ended
  std::string requeued() const { return tag_ + "requeued"; }  // id → the id it was requeued as; removed with `done`

  // Per namespace.
  std::string keys(std::string_view space) const { return of("keys", space); }      // digest of a key → live task
  std::string counts(std::string_view space) const { return of("counts", space); }  // day, kind, handler → tasks
  std::string ended(std::string_view space) const { return of("ended", space); }    // id → end; no failures
  std::string dead(std::string_view space) const { return of("dead", space); }      // id → end; failures
  std::string members(std::string_view space) const { return of("members", space); }
  std::string paused(std::string_view space) const { return of("paused", space); }  // handler → since, why
  // Live tasks, by due time.
  std::string due(ShardId shard, std::string_view space) const {
    return of("due:" + std::to_string(static_cast<int>(shard)), space);
  }

 private:
  std::string of(std::string_view what, std::string_view space) const {
    std::string key{tag_};
    return key.append(what).append(":").append(space);
  }

  const std::string tag_;
};

enum class NameKind : char { space = 's', handler = 'h', backoff = 'b' };

struct Name {
  unsigned number = 0;
  std::string text{};
};

// As it is stored: "s:shop".
std::string stored_name(NameKind kind, std::string_view text);

// The numbers of names that this process has learned. Namespaces, handlers and backoffs are few and tasks are many, so
// tasks store numbers, which lua/name.lua assigns. Safe to use from any thread.
class Names {
 public:
  std::optional<unsigned> number(NameKind kind, std::string_view text) const;
  std::optional<std::string> text(unsigned number) const;
  std::vector<Name> all(NameKind kind) const;
  void learn(std::string_view stored, unsigned number);
  void forget();

 private:
  mutable std::shared_mutex mutex_;  // guards the next two
  std::map<std::string, unsigned, std::less<>> numbers_;
  std::map<unsigned, std::string> stored_;
};

}  // namespace easyretry::storage::redis
