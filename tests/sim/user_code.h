#pragma once
// The application that uses the engine: what it submits, and how its handlers and callbacks behave. It is one for the
// whole world, as a bank behind several instances is: what it has seen of a task survives the instances.

#include <map>
#include <string>
#include <string_view>

#include "engine/handlers.h"
#include "sim/journal.h"
#include "sim/process.h"
#include "sim/scenario.h"
#include "task/record.h"

namespace easyretry::sim {

// A byte that no store accepts in a text.
inline constexpr char kUnstorable = '\xff';

// How the handler behaves for one key.
struct Plan {
  enum class Kind {
    succeeds,
    flaky,       // fails a few times first
    unstorable,  // as flaky, with an error text that cannot be stored
    waits,       // as flaky, and says itself when to come back
    doomed,      // always fails
    gives_up,
    unreadable,       // its payload does not fit
    poison,           // kills the process that runs it
    deadly_callback,  // gives up, and its on_final_failure kills the process
  };
  Kind kind = Kind::succeeds;
  int failures = 0;
  int callback_failures = 0;
  bool heeds_stop = false;
  bool hangs = false;  // may take several times its timeout
};

struct HandlerKind {
  std::string_view name;
  bool on_success;
  bool on_final_failure;
  Millis timeout;
  int concurrency;
  int running;  // at most, on all instances together; 0: as many as they like
};
std::span<const HandlerKind> handler_kinds();
const HandlerKind& handler_kind(std::string_view name);

class UserCode {
 public:
  UserCode(Dice& dice, Journal& journal, const Scenario& scenario)
      : dice_(dice), journal_(journal), scenario_(scenario) {}

  // All handlers but `missing`, which may be empty.
  void register_at(engine::Handlers& handlers, Process& process, int instance, std::string_view missing);

  task::NewTask draw_task(TimePoint now);
  const std::map<std::string, Plan>& plans() const { return plans_; }

  // From now on everything is quick, so that what is late is late because of the engine.
  void calm_down() { calm_ = true; }

 private:
  detail::Reply run(Process& process, int instance, const std::string& key);
  void tell(Process& process, int instance, Code code, const TaskInfo& task);
  std::string draw_key();
  Plan draw_plan(const HandlerKind& handler);
  Time work_time(const Plan& plan);

  Dice& dice_;
  Journal& journal_;
  const Scenario& scenario_;
  bool calm_ = false;
  std::map<std::string, Plan> plans_;              // by key
  std::map<std::string, std::string> handler_of_;  // by key
  std::map<std::string, int> runs_;                // executions so far, by key
  std::map<std::string, int> told_;                // callbacks so far, by key
};

}  // namespace easyretry::sim
