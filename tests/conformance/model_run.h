#pragma once
// One random sequence: each command is given to the model and to the other store at the same time of the same clock,
// and the first answer that differs fails the sequence.

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "conformance/model_commands.h"
#include "conformance/named_store.h"
#include "storage/memory/memory_store.h"
#include "support/store_backend.h"
#include "task/transitions.h"

namespace easyretry::test {

// How often each row of the transition table was taken.
using Coverage = std::map<std::pair<TaskState, task::Event>, int>;

class ModelRun {
 public:
  ModelRun(const StoreBackend& backend, const StoreSettings& settings, Coverage& coverage);

  void run(const Command& command);
  void compare_everything();

 private:
  using Ticket = task::Ticket;

  void tick(const Command& command);
  void insert(const Command& command);
  void load(const Command& command);
  void claim(const Command& command);
  void settle(const Command& command);
  void renew(const Command& command);
  void list(const Command& command);
  void revise(const Command& command);
  void end(const Command& command);
  void requeue(const Command& command);

  template <class Call>
  void both(Call call);  // on each store; compares the answers
  TaskId choose(const Pick& pick) const;
  Ticket ticket(const Pick& pick) const;
  std::vector<TaskId> names(const Command& command) const;
  std::vector<Ticket> tickets(const Command& command) const;
  void note(TaskId name, task::Event event);  // counts the event if it changed the task

  std::unique_ptr<StoreFixture> fixture_;  // the other store, and the clock of both
  storage::MemoryStore model_store_;
  NamedStore model_;
  NamedStore other_;
  Coverage& coverage_;

  // The model's tasks, by name, before and after the last command.
  using Records = std::map<TaskId, task::TaskRecord>;
  Records before_;
  Records after_;
};

}  // namespace easyretry::test
