// Which task is blamed for a crash, and how tasks under suspicion are claimed. Workers are played by the test.

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Threads that run what they are told to, for as long as the test likes.
class PlayedWorkers final : public Workers {
 public:
  PlayedWorkers(std::size_t threads, std::size_t ahead) : threads_(threads), ahead_(ahead) {}

  std::size_t room(HandlerNo, std::size_t, std::size_t coming) override {
    const std::size_t most = threads_ + ahead_;
    return most - std::min(most, runs_.size() + coming);
  }
  void take(std::vector<RunPtr> runs) override { runs_.insert(runs_.end(), runs.begin(), runs.end()); }
  std::size_t idle(HandlerNo, std::size_t concurrency) override {
    return concurrency - std::min(concurrency, runs_.size());
  }
  std::size_t size() const override { return threads_; }
  std::size_t busy() const override { return runs_.size(); }
  std::size_t waiting() const override { return runs_.size() - std::min(runs_.size(), threads_); }
  std::vector<RunPtr> take_waiting(const std::function<bool(const Run&)>&) override { return {}; }

  std::set<std::string> keys() const {
    std::set<std::string> all;
    for (const RunPtr& run : runs_) all.insert(run->record.info.key);
    return all;
  }
  std::vector<RunPtr> take_all() { return std::exchange(runs_, {}); }

 private:
  const std::size_t threads_;
  const std::size_t ahead_;
  std::vector<RunPtr> runs_;
};

// An instance whose tasks run, and whose process ends, when the test says so.
class PlayedInstance {
 public:
  explicit PlayedInstance(SharedStore& shared, std::size_t threads, std::size_t ahead = 0)
      : core(shared.store, shared.clock, {options(), "", 1}, [&](const auto&, const auto&) {
          auto made = std::make_unique<PlayedWorkers>(threads, ahead);
          workers = made.get();
          return made;
        }) {
    detail::Handler handler;
    handler.name = "pay";
    handler.invoke = [](const std::string&, bool) { return detail::Reply{}; };
    core.context().handlers.add(std::move(handler));
  }

  std::set<std::string> claim() {
    core.loader().hurry();
    core.loader().step();
    core.pause_watch().step();
    core.claimers()[0].step();
    return workers->keys();
  }
  // All that run succeed.
  void finish() {
    for (const RunPtr& run : workers->take_all()) {
      task::Settlement done;
      done.ticket = run->ticket();
      core.outcomes().put(run, std::move(done));
    }
    core.settler().step();
  }

  PlayedWorkers* workers = nullptr;
  Core core;

 private:
  static EngineOptions options() {
    EngineOptions options;
    options.log = nullptr;
    options.membership = "alone";
    return options;
  }
};

class Suspects : public ::testing::Test {
 protected:
  void submit(std::initializer_list<const char*> keys) {
    VirtualInstance submitter{shared};
    for (const char* key : keys) ids[key] = submitter.submit("pay", key);
  }
  // A process claims, and dies; its leases run out.
  std::set<std::string> crash(std::size_t threads, std::size_t ahead = 0) {
    PlayedInstance victim{shared, threads, ahead};
    const auto held = victim.claim();
    shared.clock.advance(30s);
    return held;
  }
  int crashes(const std::string& key) {
    return shared.store->find(std::vector{ids.at(key)}).value().front().info.crashes;
  }

  SharedStore shared;
  std::map<std::string, TaskId> ids;
};

TEST_F(Suspects, TasksThatEachHadAWorkerAreAllCharged) {
  submit({"a", "b"});
  crash(2);
  PlayedInstance survivor{shared, 2};
  survivor.claim();
  EXPECT_EQ(crashes("a"), 1);
  EXPECT_EQ(crashes("b"), 1);
}

TEST_F(Suspects, TasksClaimedAheadOfTheWorkersAreNotCharged) {
  submit({"a", "b", "c"});
  EXPECT_THAT(crash(1, 2), SizeIs(3));
  PlayedInstance survivor{shared, 3};
  EXPECT_THAT(survivor.claim(), SizeIs(3));
  for (const char* key : {"a", "b", "c"}) EXPECT_EQ(crashes(key), 0) << key;
}

TEST_F(Suspects, AreClaimedOnlyForFreeWorkersSoThatTheNextCrashIsProven) {
  submit({"a", "b", "c"});
  crash(1, 2);
  EXPECT_THAT(crash(2, 10), SizeIs(2)) << "no third one is claimed ahead";
  PlayedInstance survivor{shared, 3};
  survivor.claim();
  EXPECT_EQ(crashes("a") + crashes("b") + crashes("c"), 2);
}

TEST_F(Suspects, KeepOthersFromBeingClaimedAheadButNotFromRunning) {
  submit({"a", "b", "c"});
  crash(1, 2);
  submit({"d", "e"});
  PlayedInstance instance{shared, 2, 10};
  EXPECT_THAT(instance.claim(), SizeIs(2)) << "two of a, b and c";
  EXPECT_THAT(instance.claim(), SizeIs(2)) << "nothing is claimed ahead while the third one waits";
  instance.finish();
  EXPECT_THAT(instance.claim(), SizeIs(1));
  EXPECT_THAT(instance.claim(), SizeIs(3)) << "none waits any more";
}

TEST_F(Suspects, OnTheirLastChanceRunAlone) {
  submit({"a", "b"});
  crash(2);
  crash(2);
  submit({"c"});
  PlayedInstance instance{shared, 4};
  EXPECT_THAT(instance.claim(), SizeIs(1)) << "a or b";
  EXPECT_FALSE(instance.workers->keys().contains("c"));
  EXPECT_THAT(instance.claim(), SizeIs(1)) << "nothing beside it";
  instance.finish();
  EXPECT_THAT(instance.claim(), Not(IsEmpty()));
  instance.finish();
  instance.claim();
  instance.finish();
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_EQ(shared.store->find(std::vector{ids.at(key)}).value().front().info.outcome, Outcome::succeeded) << key;
  }
}

TEST_F(Suspects, OnTheirLastChanceWaitForTheOthersToFinishButNotForEver) {
  submit({"a"});
  crash(1);
  PlayedInstance instance{shared, 4};
  {
    PlayedInstance victim{shared, 1};
    ASSERT_THAT(victim.claim(), UnorderedElementsAre("a"));
    submit({"c"});
    ASSERT_THAT(instance.claim(), UnorderedElementsAre("c"));
  }
  shared.clock.advance(15s);
  instance.core.renewer().step();
  shared.clock.advance(15s);
  EXPECT_THAT(instance.claim(), UnorderedElementsAre("c")) << "a waits until c has finished";
  submit({"d"});
  EXPECT_THAT(instance.claim(), UnorderedElementsAre("c")) << "and d is held back";
  shared.clock.advance(Isolation::kLongest);
  EXPECT_THAT(instance.claim(), UnorderedElementsAre("c", "a")) << "long enough";
  shared.clock.advance(Isolation::kLongest);
  EXPECT_THAT(instance.claim(), UnorderedElementsAre("c", "a", "d")) << "and so has d waited";
}

TEST_F(Suspects, OneThatKillsItsWorkerAmongManyIsTheOnlyOneQuarantined) {
  submit({"a", "b", "c", "poison", "d", "e", "f"});
  crash(1, 100);  // it is unknown which of them it was
  int deaths = 1;
  const auto open = [&] { return shared.store->count({.name_space = "default"}).value(); };
  while (open() > 0 && deaths < 20) {
    PlayedInstance instance{shared, 3, 100};
    for (int i = 0; i < 20 && open() > 0; ++i) {
      if (instance.claim().contains("poison") && crashes("poison") < 3) {
        ++deaths;
        break;
      }
      const auto runs = instance.workers->take_all();
      for (const RunPtr& run : runs) {
        task::Settlement end;
        end.ticket = run->ticket();
        end.outcome = run->record.info.crashes < 3 ? Outcome::succeeded : Outcome::quarantined;
        instance.core.outcomes().put(run, std::move(end));
      }
      instance.core.settler().step();
      shared.clock.advance(2 * Isolation::kLongest);
    }
    shared.clock.advance(30s);
  }
  EXPECT_EQ(deaths, 4) << "one that proves nothing, and three";
  for (const auto& [key, id] : ids) {
    const auto outcome = shared.store->find(std::vector{id}).value().front().info.outcome;
    EXPECT_EQ(outcome, key == "poison" ? Outcome::quarantined : Outcome::succeeded) << key;
  }
}

}  // namespace
}  // namespace easyretry::engine
