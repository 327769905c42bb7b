#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <easyretry/time.h>

#include "printing/table.h"
#include "tasks/task_commands.h"

namespace easyretry::app {

// The columns that a list of tasks can have.
std::vector<std::string> column_names(TaskSet set);

// A list of tasks, page by page.
class TaskTable {
 public:
  struct Options {
    TaskSet set = TaskSet::live;
    std::vector<std::string> columns{};  // exactly these, in this order; empty: the usual ones that have room
    bool wide = false;                   // everything in full, even wider than the terminal
  };

  explicit TaskTable(const Options& options);

  void print(const nlohmann::json& tasks);
  const Table& table() const { return table_; }

 private:
  const Options options_;
  Table table_;
};

}  // namespace easyretry::app
