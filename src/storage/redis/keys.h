#pragma once
// The keys of a part of a store. All have its hash tag: {prefix}:body. docs/redis.md lists them.

#include <string>
#include <string_view>
#include <utility>

#include <easyretry/task.h>

namespace easyretry::storage::redis {

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
  std::string ended(std::string_view space) const {
    return of("ended", space);
  }  // id → end, of successes and cancelled tasks
  std::string dead(std::string_view space) const { return of("dead", space); }  // id → end, of all others
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

}  // namespace easyretry::storage::redis
