// A network that drops everything silently: no call waits forever, and work continues when the network is back.

#include <functional>
#include <iostream>

#include <gmock/gmock.h>

#include "fault/store_through_proxy.h"
#include "fault/verdict.h"
#include "support/eventually.h"
#include "support/together.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr auto kPatience = 20s;  // of a store call, at the most

class FrozenNetwork : public StoreThroughProxy {
 protected:
  using Verb = std::function<std::optional<Errc>()>;

  template <class AResult>
  static std::optional<Errc> failure(const AResult& result) {
    return result ? std::nullopt : std::optional{result.error().code};
  }

  std::vector<Verb> verbs() {
    return {[this] { return failure(insert(*store_, test::a_task())); },
            [this] { return failure(claim(free_, "worker-7")); },
            [this] { return failure(settle(held_, "no money")); },
            [this] {
              const storage::Renewal renewal{held_, kLease};
              return failure(store_->renew({&renewal, 1}));
            },
            [this] {
              return failure(store_->find({&held_.id, 1}));
            },
            [this] {
              const storage::ShardCursor from{};
              return failure(store_->load({.name_space = test::kNamespace, .from = {&from, 1}}));
            }};
  }

  const storage::Ticket free_ = stored("free");
  const storage::Ticket held_ = claimed("held");
};
ON_EACH_SERVER(FrozenNetwork);
ON_REDIS(FrozenNetwork);

TEST_P(FrozenNetwork, EveryCallGivesUpWithinItsTimeAndWorksAfterwards) {
  proxy_.freeze();
  const auto began = std::chrono::steady_clock::now();
  const auto all = verbs();
  const auto failures = test::together(static_cast<int>(all.size()), [&](int verb) { return all.at(verb)(); });
  EXPECT_LT(std::chrono::steady_clock::now() - began, kPatience);
  for (std::size_t verb = 0; verb < failures.size(); ++verb) {
    EXPECT_TRUE(failures[verb] == Errc::unavailable || failures[verb] == Errc::in_doubt) << "verb " << verb;
  }

  proxy_.thaw();
  EXPECT_TRUE(test::eventually([&] { return insert(*store_, test::a_task()).has_value(); }));
  if (GetParam() == ServerKind::redis) return;  // what is on its way arrives: it was in doubt
  EXPECT_THAT(claim(free_, "worker-7").value().won, SizeIs(1)) << "the claim that failed was not made";
  EXPECT_THAT(settle(held_, "no money").value().applied, ElementsAre(true));
}

// Frozen when the insert has been made and its commit is on the way. Whether the server gets it afterwards, or has
// given up waiting for it by then, only "in doubt" covers both.
TEST_P(FrozenNetwork, AnInsertThatSucceedsAfterwardsWasInDoubt) {
  const int round_trips_before = GetParam() == ServerKind::postgres ? 2 : 3;  // MariaDB looks into history by itself
  proxy_.set_latency(200ms);
  std::thread freezer{[&] {
    const auto commit_is_on_its_way = std::chrono::steady_clock::now() + round_trips_before * 400ms + 100ms;
    test::eventually([&] { return std::chrono::steady_clock::now() > commit_is_on_its_way; });
    proxy_.freeze();
  }};
  const auto reply = insert(*store_, test::a_task().key("late"));
  freezer.join();
  const bool there_at_once = !look("late").empty();
  proxy_.set_latency(0ms);
  proxy_.thaw();
  EXPECT_TRUE(test::eventually([&] { return insert(*store_, test::a_task()).has_value(); }));
  const bool there = test::eventually([&] { return !look("late").empty(); }, 2s);
  if (reply) {
    EXPECT_TRUE(there_at_once);
  } else if (there) {
    EXPECT_EQ(reply.error().code, Errc::in_doubt) << to_string(reply.error());
  }
  std::cout << (reply ? "stored" : to_string(reply.error())) << (there ? ", and there\n" : ", and not there\n");
}

class CutOff : public OnEachServer {
 protected:
  void freeze_for(std::chrono::milliseconds time) {
    proxy_.freeze();
    const auto until = std::chrono::steady_clock::now() + time;
    test::eventually([&] { return std::chrono::steady_clock::now() > until; });
    proxy_.thaw();
  }

  const test::TestDatabase database_{GetParam()};
  test::CuttingProxy proxy_{test::shared_server_port(GetParam())};
};
ON_EACH_SERVER(CutOff);
ON_REDIS(CutOff);

// Its lease is a second. When it is back, its settlements are refused for tasks that the other one has.
TEST_P(CutOff, AWorkerLosesItsTasksToAnotherAndComesBack) {
  constexpr std::size_t kTasksEach = 2'000;
  constexpr std::size_t kFreezes = 4;
  Crew crew{database_.url()};
  crew.start(kTasksEach, {.url = in_the_clear(GetParam(), database_.url_through(proxy_.port()))});
  crew.start(kTasksEach);
  for (std::size_t i = 0; i < kFreezes; ++i) {
    ASSERT_TRUE(test::eventually([&] { return crew.submitted_by(0) >= i * kTasksEach / kFreezes + 1; }));
    freeze_for(1500ms);
  }
  const auto store = storage::open_store(database_.url(), system_clock());
  ASSERT_TRUE(test::eventually([&] { return crew.submitted() == 2 * kTasksEach && all_done(*store); }, 60s));
  crew.kill_all();
  std::cout << kFreezes << " freezes: " << judge(*store, crew) << "\n";
}

}  // namespace
}  // namespace easyretry::fault
