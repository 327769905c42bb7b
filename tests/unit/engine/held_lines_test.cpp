// Handlers whose tasks are held back by a circuit, its budget for retries or a limit, beside others, on virtual time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMemory = 2'048;

// Counts how often reading begins at the earliest task.
class PassedStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  int passes = 0;

  Result<storage::LoadReply> load(const storage::LoadQuery& query) override {
    if (query.from.front().place == TimePoint::min()) ++passes;
    return ForwardingStore::load(query);
  }
};

enum class HeldBy { circuit, order_to_circuit, retry_budget, limit, limit_of_zero, pause };

class HeldLines {
 public:
  HeldLines(HeldBy by, int lines) : by_(by), lines_(lines) {
    for (int line = 0; line < lines; ++line) {
      for (VirtualInstance* one : {&instance, &other})
        one->handle(
            name(line), [this] { ++started; }, {}, options());
    }
    for (VirtualInstance* one : {&instance, &other}) {
      one->handle("mail", [this] { late.push_back(shared.clock.now() - current_task()->info.next_at); });
    }
    hold();
  }

  static std::string name(int line) { return "held " + std::to_string(line); }

  // Stored by another instance, so this one has to read them.
  void submit(const std::string& handler, int count, Millis delay = 0ms) {
    std::vector<task::NewTask> tasks;
    for (int i = 0; i < count; ++i) {
      task::NewTask& task = tasks.emplace_back();
      task.name_space = "default";
      task.handler = handler;
      task.key = std::to_string(keys_++);
      task.payload = "[]";
      task.delay = delay;
      task.attempts = by_ == HeldBy::retry_budget && handler != "mail" ? 1 : 0;
    }
    ASSERT_TRUE(other.core.submit(tasks));
  }
  void fill(int tasks_of_each) {
    for (int line = 0; line < lines_; ++line) submit(name(line), tasks_of_each);
  }

  void work_for(Millis time) {
    for (Millis passed{0}; passed < time; passed += 50ms) {
      shared.clock.advance(50ms);
      while (work_a_little()) EXPECT_LE(instance.core.schedule().held(), kMemory);
    }
  }

  void hold() {
    if (lines_ == 0) return;
    if (by_ == HeldBy::circuit) circuit().rest(shared.clock.steady(), 10min);
    if (by_ == HeldBy::order_to_circuit) {
      ASSERT_TRUE(instance.core.order_circuit("gateway", CircuitState::open, std::nullopt, "they migrate"));
    }
    for (int line = 0; by_ == HeldBy::pause && line < lines_; ++line) ASSERT_TRUE(instance.core.pause(name(line), ""));
  }
  // The line opens. For a limit that is configured, there is another configuration.
  void open() {
    if (by_ == HeldBy::circuit || by_ == HeldBy::order_to_circuit || by_ == HeldBy::retry_budget) {
      ASSERT_TRUE(instance.core.order_circuit("gateway", CircuitState::closed, 1h, "it is back"));
    }
    std::map<std::string, HandlerSettings> settings;
    for (int line = 0; line < lines_; ++line) settings[name(line)] = {};
    if (by_ == HeldBy::limit || by_ == HeldBy::limit_of_zero) instance.core.reconfigure(settings, {});
    for (int line = 0; by_ == HeldBy::pause && line < lines_; ++line) ASSERT_TRUE(instance.core.resume(name(line)));
  }

  SharedStore shared;
  std::shared_ptr<PassedStore> store = std::make_shared<PassedStore>(shared.clock);
  VirtualInstance instance{store, shared.clock, {.read_ahead = kMemory}};
  VirtualInstance other{store, shared.clock};
  int started = 0;           // of all lines
  std::vector<Millis> late;  // each mail

 private:
  HandlerOptions options() const {
    HandlerOptions options;
    if (by_ == HeldBy::circuit || by_ == HeldBy::order_to_circuit) options.circuit = CircuitOptions{.name = "gateway"};
    if (by_ == HeldBy::retry_budget) {
      options.circuit = CircuitOptions{.name = "gateway", .probes = 0.01, .retries_at_most = 0};
    }
    if (by_ == HeldBy::limit) options.limit = LimitOptions{.per_second = 0.01};
    if (by_ == HeldBy::limit_of_zero) options.limit = LimitOptions{.running = 0};
    return options;
  }
  Circuit& circuit() { return *instance.core.circuit("gateway"); }

  bool work_a_little() {
    bool worked = instance.core.loader().step().worked;
    worked |= instance.core.pause_watch().step().worked;
    worked |= instance.core.circuit_watch().step().worked;
    worked |= instance.core.brake_watch().step().worked;
    worked |= instance.core.claimers()[0].step().worked;
    worked |= static_cast<InlineWorkers&>(instance.core.workers()).step();
    worked |= instance.core.settler().step().worked;
    return worked;
  }

  const HeldBy by_;
  const int lines_;
  int keys_ = 0;
};

struct Held {
  std::string name;
  HeldBy by;
  int lines;
  int tasks;  // of each line; together more than memory has room for
};

class HeldLinesTest : public ::testing::TestWithParam<Held> {
 protected:
  int tasks() const { return GetParam().tasks; }

  HeldLines lines{GetParam().by, GetParam().lines};
};

TEST_P(HeldLinesTest, ATaskBehindThemStarts) {
  lines.fill(tasks());
  lines.work_for(1s);
  lines.submit("mail", 10);
  lines.work_for(lines.instance.core.options().window);
  EXPECT_EQ(lines.late.size(), 10U);
}

TEST_P(HeldLinesTest, TheirTasksStartWhenTheyOpen) {
  lines.fill(tasks());
  lines.work_for(10s);
  const int before = lines.started;
  EXPECT_LT(before, 50) << "probes, and what a limit lets through";
  lines.open();
  lines.work_for(2s);
  EXPECT_EQ(lines.started, tasks() * GetParam().lines) << "within a look at the orders and a pass";
}

TEST_P(HeldLinesTest, AreReadNoMoreOftenThanPausedHandlers) {
  const auto passes_of = [this](HeldLines& any) {
    any.fill(tasks());
    any.work_for(5s);
    any.store->passes = 0;
    any.work_for(1min);
    return any.store->passes;
  };
  HeldLines paused{HeldBy::pause, GetParam().lines};
  EXPECT_LE(passes_of(lines), passes_of(paused) + 1) << "the one that memory was too full for";
}

// The same mails with and without held lines.
TEST_P(HeldLinesTest, AnotherHandlerIsNotLaterBesideThem) {
  const auto lateness = [](HeldLines& any) {
    for (int second = 0; second < 60; ++second) {
      any.submit("mail", 5, Millis{second * 37 % 100 * 100});
      any.work_for(1s);
    }
    any.work_for(15s);
    EXPECT_EQ(any.late.size(), 300U);
    any.late.push_back(0ms);
    std::ranges::sort(any.late);
    return any.late[any.late.size() * 99 / 100];
  };
  HeldLines none{GetParam().by, 0};
  lines.fill(tasks());
  const Millis with = lateness(lines);
  EXPECT_LE(with, lateness(none) * 11 / 10);
}

INSTANTIATE_TEST_SUITE_P(By, HeldLinesTest,
                         ::testing::Values(Held{"OpenCircuit", HeldBy::circuit, 2, 3'000},
                                           Held{"CircuitHeldOpen", HeldBy::order_to_circuit, 2, 3'000},
                                           Held{"RetryBudget", HeldBy::retry_budget, 2, 3'000},
                                           Held{"LimitPerSecond", HeldBy::limit, 2, 3'000},
                                           Held{"LimitOfZero", HeldBy::limit_of_zero, 2, 3'000},
                                           Held{"ManyLines", HeldBy::limit_of_zero, 20, 300}),
                         [](const auto& held) { return held.param.name; });

}  // namespace
}  // namespace easyretry::engine
