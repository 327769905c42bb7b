#pragma once
// Moves the messages of a queue into a store of ours, where they are tasks: the topic is the handler, the id the key.
//
// A message is leased, stored, and then removed from the queue. Cut off anywhere, the same import goes on: what was in
// its hands is looked for in the store, also among what has ended, before it is stored. Where nobody goes on, the lease
// runs out, and the queue has the message back.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "storage/store.h"

namespace easyretry::mxrmq {

struct ImportPlan {
  std::map<std::string, std::int64_t> pending;  // by topic
  std::int64_t delayed = 0;                     // of all topics
  std::int64_t in_flight = 0;                   // about; these stay, until they have ended or their lease has
  std::int64_t dead = 0;                        // these stay, unless they are asked for

  std::int64_t to_be_moved() const;
};

// Throws std::invalid_argument for the url, StoreError for the server.
ImportPlan plan_import(std::string_view queue_url);

struct ImportOptions {
  std::string space = "default";
  bool dead_letters = false;  // also these: dead_letters.h
  std::function<void(std::int64_t moved)> progress = [](std::int64_t) {};
  std::function<void(std::int64_t moved)> letter_progress = [](std::int64_t) {};
};

struct MovedLetters {
  std::int64_t moved = 0;
  std::int64_t left = 0;  // cannot be read, or a live task has their id for a key
};

struct ImportReport {
  std::int64_t moved = 0;
  std::int64_t unreadable = 0;  // with the messages that could not be read
  MovedLetters letters{};
};

// The same, and StoreError where the store could not take them.
ImportReport run_import(std::string_view queue_url, storage::Store& store, const ImportOptions& options);

}  // namespace easyretry::mxrmq
