#pragma once
// Moves dead letters into a store, where they are tasks that have failed for good: they are not run, nobody is told of
// them, and Engine::requeue() starts one again.
//
// A letter is stored as a task that runs and is never due, ended, looked for in the store's history, and then removed
// from the queue. Cut off anywhere, the same import goes on; meanwhile nobody runs the task.

#include <cstdint>
#include <functional>
#include <string>

#include "mxrmq/import.h"
#include "mxrmq/import_target.h"
#include "mxrmq/link.h"

namespace easyretry::mxrmq {

// Throws ServerError for the queue; StoreError for the store, also where its history would not keep them.
MovedLetters move_dead_letters(Link& link, ImportTarget& target, const std::string& token,
                               const std::function<void(std::int64_t moved)>& progress);

}  // namespace easyretry::mxrmq
