#pragma once
// Moves the messages of a queue into a store, as tasks: the topic becomes the handler, the id the key.
//
// A message is leased, stored, and then removed from the queue. If the import is interrupted at any point, the next one
// continues: it looks for messages that an earlier import had taken in the store, including ended tasks, before it
// stores them. Without a next import, the lease expires and the queue has the message back.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "storage/store.h"

namespace easyretry::mxrmq {

struct ImportPlan {
  std::map<std::string, std::int64_t> pending;  // by topic
  std::int64_t delayed = 0;                     // in all topics
  std::int64_t in_flight = 0;  // approximate; these stay until they have ended or their lease has expired
  std::int64_t dead = 0;       // these stay, unless the options include them

  std::int64_t to_be_moved() const;
};

// Throws std::invalid_argument for the url, StoreError for the server.
ImportPlan plan_import(std::string_view queue_url);

struct ImportOptions {
  std::string name_space = "default";
  bool dead_letters = false;  // move these, too: see import_target.h
  std::function<void(std::int64_t moved)> progress = [](std::int64_t) {};
  std::function<void(std::int64_t moved)> letter_progress = [](std::int64_t) {};
};

struct MovedLetters {
  std::int64_t moved = 0;
  std::int64_t left = 0;  // cannot be parsed, or a live task has their id as its key
};

struct ImportReport {
  std::int64_t moved = 0;
  std::int64_t unreadable = 0;  // moved to the unreadable messages
  MovedLetters letters{};
};

// Throws the same, and StoreError if the store fails.
ImportReport run_import(std::string_view queue_url, storage::Store& store, const ImportOptions& options);

}  // namespace easyretry::mxrmq
