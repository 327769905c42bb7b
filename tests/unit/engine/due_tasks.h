#pragma once
// Due tasks for the tests of Ready.

#include <vector>

#include "engine/ready.h"

namespace easyretry::engine {

inline DueTask due(int id, std::uint32_t handler = 0) {
  return {{TaskId{id}, 1}, {}, handler};
}

inline DueTask due_retry(int id, std::uint32_t handler = 0) {
  DueTask task = due(id, handler);
  task.retried = true;
  return task;
}

inline std::vector<int> ids_in(const std::vector<DueTask>& tasks) {
  std::vector<int> all;
  for (const DueTask& task : tasks) all.push_back(static_cast<int>(task.id));
  return all;
}

inline std::size_t plenty(const Line&, std::size_t, std::size_t) {
  return 1000;
}

}  // namespace easyretry::engine
