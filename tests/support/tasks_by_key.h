#pragma once
// Stores and claims a task by its key, and looks at what a store has of it. Throws StoreError.

#include <string>
#include <utility>
#include <vector>

#include "storage/store.h"
#include "support/task_builder.h"

namespace easyretry::test {

template <class T, class E>
T must(tl::expected<T, E> reply) {
  if (!reply) throw StoreError{reply.error()};
  return *std::move(reply);
}

// As the store has them; with `finished`, those in history.
inline std::vector<task::TaskRecord> tasks_by_key(storage::Store& store, const std::string& key,
                                                  bool finished = false) {
  return must(store.list({.name_space = kNamespace, .finished = finished, .key = key}));
}

inline task::Ticket stored(storage::Store& store, const std::string& key) {
  const task::NewTask task = a_task().key(key);
  const auto reply = must(store.insert({&task, 1}));
  return {reply.tasks[0].id, reply.tasks[0].version};
}

inline task::Ticket claimed(storage::Store& store, const std::string& key, Millis lease) {
  const task::Ticket ticket = stored(store, key);
  const auto reply = must(store.claim({{&ticket, 1}, "someone", lease}));
  return {reply.won.at(0).info.id, reply.won.at(0).info.version};
}

}  // namespace easyretry::test
