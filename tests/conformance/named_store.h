#pragma once
// A store whose tasks are numbered in the order of their creation: TaskId{0}, TaskId{1}, … So two stores give the same
// answers to the same commands, though they draw different ids. Answers are texts to compare, and sorted where store.h
// leaves the order open.

#include <map>
#include <string>
#include <vector>

#include "storage/store.h"

namespace easyretry::test {

class NamedStore {
 public:
  explicit NamedStore(storage::Store& store) : store_(store) {}

  std::string insert(const std::vector<task::NewTask>& tasks);
  std::string load(std::string_view name_space, Millis ahead, std::size_t limit);  // all shards, all pages
  std::string claim(std::vector<task::Ticket> tickets, std::string_view owner, Millis lease, bool begin);
  std::string settle(std::vector<task::Settlement> settlements);
  std::string renew(std::vector<storage::Renewal> renewals);
  std::string find(std::vector<TaskId> names);
  std::string list(storage::TaskQuery query);  // all pages, and the count
  std::string revise(std::vector<storage::Revision> revisions);
  std::string end(std::vector<task::Ending> endings);
  std::string requeue(std::vector<TaskId> names, std::optional<TaskClass> as);
  std::string keep();
  std::string counts(std::string_view name_space);

  std::size_t known() const { return ids_.size(); }
  std::vector<task::TaskRecord> records();  // of all known tasks that are still there, by name

 private:
  TaskId id(TaskId name) const;
  TaskId name(TaskId id) const;
  void learn(TaskId id);
  std::vector<TaskId> ids(std::vector<TaskId> names) const;
  std::vector<task::Ticket> tickets(std::vector<task::Ticket> named) const;
  std::vector<task::TaskRecord> named(std::vector<task::TaskRecord> records) const;

  storage::Store& store_;
  std::vector<TaskId> ids_;  // by name
  std::map<TaskId, TaskId> names_;
};

}  // namespace easyretry::test
