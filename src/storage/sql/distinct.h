#pragma once
// Batches may name a task several times, and what the first entry changed, the next one meets. A statement for many
// rows knows no order, so it is given each task once.

#include <span>
#include <unordered_set>

#include <easyretry/task.h>

namespace easyretry::storage::sql {

// Calls body(part) for one part after the other, none of which names a task twice: nearly always one.
template <class T, class IdOf, class Body>
void for_distinct(std::span<const T> batch, IdOf id_of, Body body) {
  while (!batch.empty()) {
    std::unordered_set<TaskId> seen;
    seen.reserve(batch.size());
    std::size_t size = 0;
    while (size < batch.size() && seen.insert(id_of(batch[size])).second) ++size;
    body(batch.first(size));
    batch = batch.subspan(size);
  }
}

}  // namespace easyretry::storage::sql
