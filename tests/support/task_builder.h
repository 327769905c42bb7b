#pragma once
// a_task().key("pay:42").due_in(5s): a NewTask with sane defaults and, unless told otherwise, a key of its own.

#include <atomic>
#include <string>
#include <utility>

#include "task/record.h"

namespace easyretry::test {

inline constexpr auto kNamespace = "shop";

class TaskBuilder {
 public:
  explicit TaskBuilder(std::string unique_key) {
    task_.name_space = kNamespace;
    task_.key = std::move(unique_key);
    task_.handler = "pay";
    task_.payload = R"(["order-42",3])";
  }

  TaskBuilder& name_space(std::string name) { return set(task_.name_space, std::move(name)); }
  TaskBuilder& key(std::string key) { return set(task_.key, std::move(key)); }
  TaskBuilder& handler(std::string name) { return set(task_.handler, std::move(name)); }
  TaskBuilder& payload(std::string bytes) { return set(task_.payload, std::move(bytes)); }
  TaskBuilder& payload_version(int version) { return set(task_.payload_version, version); }
  TaskBuilder& rules(task::RetryRules rules) { return set(task_.rules, std::move(rules)); }
  TaskBuilder& of_class(TaskClass task_class) { return set(task_.task_class, task_class); }
  TaskBuilder& due_in(Millis delay) { return set(task_.delay, delay); }
  TaskBuilder& due_at(TimePoint when) { return set(task_.due_at, std::optional{when}); }
  TaskBuilder& business(std::string type, std::string id) {
    task_.business_type = std::move(type);
    return set(task_.business_id, std::move(id));
  }

  operator task::NewTask() const { return task_; }  // NOLINT: a builder in a list of tasks is a task

 private:
  template <class T>
  TaskBuilder& set(T& field, T value) {
    field = std::move(value);
    return *this;
  }

  task::NewTask task_;
};

inline TaskBuilder a_task() {
  static std::atomic<int> number{0};
  return TaskBuilder{"key-" + std::to_string(++number)};
}

}  // namespace easyretry::test
