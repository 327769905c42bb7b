#pragma once
// The parts of an import: the store that it fills, and the moving of dead letters. Functions throw StoreError.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mxrmq/import.h"
#include "mxrmq/link.h"
#include "mxrmq/message.h"
#include "storage/store.h"

namespace easyretry::mxrmq {

class ImportTarget {
 public:
  ImportTarget(storage::Store& store, std::string name_space) : store_(store), namespace_(std::move(name_space)) {}

  // The topic becomes the handler and the id the key. Throws if the id is too long for a key.
  task::NewTask task_of(const std::string& id, const Message& message) const;

  std::vector<storage::Inserted> insert(std::span<const task::NewTask> tasks);
  // Fails if another process has changed one of them.
  void settle(std::span<const task::Settlement> settlements);
  std::optional<task::TaskRecord> live(const std::string& id) { return with_key(id, false); }
  std::optional<task::TaskRecord> ended(const std::string& id) { return with_key(id, true); }
  std::size_t count_found(std::span<const TaskId> tasks);

 private:
  std::optional<task::TaskRecord> with_key(const std::string& id, bool finished);

  storage::Store& store_;
  const std::string namespace_;
};

// Moves dead letters into the store as tasks with a final failure: they do not run, no callback is called for them, and
// Engine::requeue() can restart one.
//
// A letter is stored as a running task that is never due, ended, looked up in the store's history, and then removed
// from the queue. If the import is interrupted at any point, the next one continues; meanwhile no instance runs the
// task.
//
// Throws ServerError for the queue, and StoreError for the store, also if its history would not keep the letters.
MovedLetters move_dead_letters(QueueConnection& link, ImportTarget& target, const std::string& token,
                               const std::function<void(std::int64_t moved)>& progress);

}  // namespace easyretry::mxrmq
