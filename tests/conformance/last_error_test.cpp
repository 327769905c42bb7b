// The engine on every store: a limit that ends a task while it waits does not hide why the handler failed.

#include "conformance/store_conformance.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::test {
namespace {

using engine::VirtualInstance;

constexpr auto kError = "the bank is busy";
const task::RetryRules kOneHour{0, 1h, {}, {}};

// Makes instances on the store of the test, and keeps what they tell the owner of a task.
class Instances {
 public:
  Instances(storage::Store& store, easyretry::testing::ManualClock& clock) : store_(store), clock_(clock) {}

  // Its handler always fails, and is retried after ten minutes. Destroying the instance is its crash.
  std::unique_ptr<VirtualInstance> start() {
    auto instance = std::make_unique<VirtualInstance>(std::shared_ptr<storage::Store>{&store_, [](storage::Store*) {}},
                                                      clock_, EngineOptions{.name_space = kNamespace});
    instance->handle(
        "pay", [] { throw std::runtime_error(kError); }, Policy{.backoff = Fixed{10min}});
    detail::Handler callback;
    callback.on_final_failure = [this](const Failure& failure, const TaskInfo&) { told.push_back(failure.message); };
    instance->core.handlers().change("pay", std::move(callback));
    return instance;
  }
  void run_due() {
    const auto instance = start();
    instance->all();
    instance->all();  // the callback
  }

  std::vector<std::string> told;

 private:
  storage::Store& store_;
  easyretry::testing::ManualClock& clock_;
};

}  // namespace

TEST_P(StoreConformance, ATaskThatEndsAtMaxDurationWhileItWaitsKeepsItsErrorBesideTheLimit) {
  Instances instances{store(), clock()};
  const TaskId id = put(a_task().payload("[]").rules(kOneHour)).id;
  instances.run_due();
  EXPECT_EQ(record(id).info.last_error, kError);

  clock().advance(2h);  // no instance runs
  instances.run_due();
  const std::string both =
      std::string{kError} + " (the next attempt would start 2h after the task was stored (max_duration = 1h))";
  EXPECT_EQ(record(id).info.outcome, Outcome::exhausted);
  EXPECT_EQ(record(id).info.last_error, both);
  EXPECT_THAT(instances.told, ElementsAre(both));
}

TEST_P(StoreConformance, ATaskThatEndsAtItsDeadlineWhileItWaitsKeepsItsErrorBesideTheLimit) {
  Instances instances{store(), clock()};
  const TaskId id = put(a_task().payload("[]").rules({0, 0ms, now() + 1h, {}})).id;
  instances.run_due();

  clock().advance(2h);
  instances.run_due();
  const std::string both = std::string{kError} +
                           " (the next attempt would start at 2026-03-10T14:00:00.000Z (deadline = "
                           "2026-03-10T13:00:00.000Z))";
  EXPECT_EQ(record(id).info.outcome, Outcome::exhausted);
  EXPECT_EQ(record(id).info.last_error, both);
  EXPECT_THAT(instances.told, ElementsAre(both));
}

TEST_P(StoreConformance, ATaskThatIsQuarantinedKeepsItsErrorBesideTheLimit) {
  Instances instances{store(), clock()};
  const TaskId id = put(a_task().payload("[]")).id;
  instances.run_due();

  clock().advance(10min);
  for (int crash = 0; crash < 3; ++crash) {
    instances.start()->claim();
    clock().advance(kLease);
  }
  instances.run_due();
  const std::string both = std::string{kError} + " (the worker died 3 times while running this task (max_crashes = 3))";
  EXPECT_EQ(record(id).info.outcome, Outcome::quarantined);
  EXPECT_EQ(record(id).info.last_error, both);
  EXPECT_THAT(instances.told, ElementsAre(both));
}

TEST_P(StoreConformance, ATaskThatALimitEndsBeforeItsFirstAttemptNamesTheLimitAlone) {
  Instances instances{store(), clock()};
  const TaskId id = put(a_task().payload("[]").rules(kOneHour)).id;
  clock().advance(2h);
  instances.run_due();
  EXPECT_EQ(record(id).info.last_error,
            "the next attempt would start 2h after the task was stored (max_duration = 1h)");
}

}  // namespace easyretry::test
