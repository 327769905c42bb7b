// From a source's list of members to the shards that are scanned.

#include "engine/rebalancer.h"

#include <atomic>
#include <optional>
#include <span>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/membership.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Says what the test says.
struct ToldMembership final : cluster::Membership {
  struct Source {
    Result<cluster::MemberList> list = cluster::MemberList{};
    std::function<void()> changed;
    int asked = 0;
    std::string says;
    std::vector<std::string> handlers;
    bool left = false;
  };
  explicit ToldMembership(Source& the_source) : source(the_source) {}
  const Traits& traits() const override { return told; }
  Result<cluster::MemberList> refresh(const cluster::Announcement& announcement) override {
    source.says = announcement.says;
    source.handlers = announcement.handlers.value();
    ++source.asked;
    return source.list;
  }
  void leave() override { source.left = true; }
  void listen(std::function<void()> changed) override { source.changed = std::move(changed); }

  Source& source;
  Traits told{.source = "told", .self = "b", .pushes = true, .refresh = 3s, .death_timeout = 10s};
};

class RebalancerTest : public ::testing::Test {
 protected:
  void tell(const std::vector<std::string>& nodes) {
    std::vector<Member> members;
    for (const std::string& node : nodes) members.push_back({.node = node});
    source.list = cluster::MemberList{members};
  }
  using Fleet = std::vector<std::pair<std::string, std::vector<std::string>>>;
  void tell_handlers(const Fleet& fleet) {
    std::vector<Member> members;
    for (const auto& [node, handlers] : fleet) members.push_back({.node = node, .handlers = handlers});
    source.list = cluster::MemberList{members};
  }
  void handle(const std::string& name) {
    detail::Handler handler;
    handler.name = name;
    context->handlers.add(std::move(handler));
  }
  void refuse() { source.list = fail(Errc::unavailable, "registry", "is gone"); }
  Rebalancer& start(EngineOptions options = {}) {
    options.log = [this](LogLevel, std::string_view line) { logged.emplace_back(line); };
    context = std::make_unique<Context>(*shared.store, shared.clock, options, "me", 1);
    context->events.add([this](const Event& event) { events.push_back(event); }, Delivery::direct);
    rebalancer = std::make_unique<Rebalancer>(*context, std::make_unique<ToldMembership>(source), 8,
                                              [this](Ownership now) { own(std::move(now)); });
    handle("pay");
    rebalancer->begin();
    return *rebalancer;
  }
  void own(Ownership now) {
    auto shards = numbers(now.part("pay").owned.list());
    if (owned.empty() || owned.back() != shards) owned.push_back(std::move(shards));
    ownership.emplace(std::move(now));
  }
  std::vector<int> owned_of(const std::string& handler) const { return numbers(ownership->part(handler).owned.list()); }
  std::vector<int> stood_by() const { return numbers(ownership->part("pay").stood_by.list()); }
  void step_after(Millis time) {
    shared.clock.advance(time);
    rebalancer->step();
  }
  static std::vector<int> numbers(std::span<const ShardId> shards) {
    std::vector<int> all;
    for (const ShardId shard : shards) all.push_back(static_cast<int>(shard));
    return all;
  }
  std::vector<std::string> told() const {
    std::vector<std::string> texts;
    for (const Event& event : events) texts.push_back(std::string{to_string(event.kind)} + " " + event.message);
    return texts;
  }

  SharedStore shared;
  ToldMembership::Source source;
  std::vector<std::vector<int>> owned;  // of "pay", each time that it was something else
  std::optional<Ownership> ownership;   // the last
  std::vector<Event> events;
  std::vector<std::string> logged;
  std::unique_ptr<Context> context;
  std::unique_ptr<Rebalancer> rebalancer;
};

TEST_F(RebalancerTest, TheFirstListGivesTheShardsOfItsPlace) {
  tell({"a", "b", "c"});
  start().step();
  EXPECT_THAT(owned, ElementsAre(ElementsAre(1, 4, 7)));
}

TEST_F(RebalancerTest, BlocksWhereTheOptionSaysSo) {
  tell({"a", "b", "c"});
  start({.assignment = Assignment::even}).step();
  EXPECT_THAT(owned, ElementsAre(ElementsAre(3, 4, 5)));
}

TEST_F(RebalancerTest, UntilThereIsAListAllShardsAreOursUnlessWeWait) {
  refuse();
  start().step();
  EXPECT_THAT(owned, IsEmpty());
  EXPECT_THAT(rebalancer->view().shards, SizeIs(8));
  start({.at_start = AtStart::wait}).step();
  EXPECT_THAT(owned, ElementsAre(IsEmpty()));
  tell({"a", "b"});
  step_after(1s);
  EXPECT_THAT(owned.back(), ElementsAre(1, 3, 5, 7));
}

TEST_F(RebalancerTest, IsAskedAgainAfterItsTimeOrWhenItTellsOfAChange) {
  tell({"a", "b"});
  start().step();
  step_after(2999ms);
  EXPECT_EQ(source.asked, 1);
  step_after(1ms);
  EXPECT_EQ(source.asked, 2);
  source.changed();
  step_after(0ms);
  EXPECT_EQ(source.asked, 3);
}

TEST_F(RebalancerTest, AMemberThatLeavesGivesItsShardsToTheOthers) {
  tell({"a", "b", "c"});
  start().step();
  tell({"a", "b"});
  step_after(3s);
  EXPECT_THAT(owned, SizeIs(1)) << "it may be back";
  step_after(2s);
  EXPECT_THAT(owned.back(), ElementsAre(1, 3, 5, 7));
}

TEST_F(RebalancerTest, AMissingSourceChangesNothingAndIsReportedOnce) {
  tell({"a", "b"});
  start().step();
  refuse();
  logged.clear();
  for (int i = 0; i < 20; ++i) step_after(3s);
  EXPECT_THAT(owned, SizeIs(1));
  EXPECT_THAT(logged, SizeIs(1));
  EXPECT_FALSE(rebalancer->view().trusted);
  EXPECT_EQ(rebalancer->view().age, 60s);
  tell({"a", "b"});
  step_after(3s);
  EXPECT_TRUE(rebalancer->view().trusted);
  EXPECT_THAT(logged, SizeIs(2));
}

TEST_F(RebalancerTest, JoinsLeavesAndSharesAreTold) {
  tell({"a", "b"});
  start().step();
  events.clear();
  tell({"b", "c"});
  step_after(3s);
  step_after(2s);
  EXPECT_THAT(told(),
              ElementsAre("member joined c", "member left a", "shards changed 2 members; this one owns 4 of 8 shards"));
}

TEST_F(RebalancerTest, ARefusedMemberIsReportedOnceWhileItStays) {
  tell({"a", "b"});
  start().step();
  events.clear();
  logged.clear();
  source.list->refused = {{"10.0.0.9:80", "another application"}};
  for (int i = 0; i < 3; ++i) step_after(3s);
  const std::string refusal = "10.0.0.9:80 is not accepted as a member: another application";
  EXPECT_THAT(told(), ElementsAre("member refused " + refusal));
  EXPECT_THAT(logged, ElementsAre(refusal));
  EXPECT_THAT(owned, SizeIs(1)) << "nothing else has changed";
  source.list->refused.clear();
  step_after(3s);
  source.list->refused = {{"10.0.0.9:80", "another application"}};
  step_after(3s);
  EXPECT_THAT(logged, SizeIs(2));
}

TEST_F(RebalancerTest, TheOthersAreToldWhichShardsWeLookAfter) {
  tell({"a", "b", "c"});
  start().step();
  EXPECT_EQ(source.says, "8: 0-7");
  step_after(3s);
  EXPECT_EQ(source.says, "3: every 3rd from 1");
}

TEST_F(RebalancerTest, WhoLeavesSaysSo) {
  start().leave();
  EXPECT_TRUE(source.left);
}

// Two instances on one store, each stepped manually.
TEST_F(RebalancerTest, InstancesThatMeetInTheStoreShareItsShards) {
  const auto instance = [&](const std::string& node, std::vector<int>& mine) {
    return std::make_unique<Rebalancer>(*context,
                                        std::make_unique<cluster::StoreMembership>(*shared.store, "shop", node, 30s), 8,
                                        [&](const Ownership& has) { mine = numbers(has.part("pay").owned.list()); });
  };
  start();
  std::vector<int> a;
  std::vector<int> b;
  const auto first = instance("a", a);
  auto second = instance("b", b);
  for (int i = 0; i < 10; ++i) {
    shared.clock.advance(1s);
    first->step();
    second->step();
  }
  EXPECT_THAT(a, ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(b, ElementsAre(1, 3, 5, 7));
  second.reset();  // as if killed
  for (int i = 0; i < 20; ++i) {
    shared.clock.advance(1s);
    first->step();
  }
  EXPECT_THAT(a, SizeIs(8));
}

TEST_F(RebalancerTest, ThoseWhoRunAHandlerShareAllShardsOfIt) {
  tell_handlers({{"a", {"mail"}}, {"b", {}}, {"c", {"mail", "pay"}}});
  start().step();
  EXPECT_THAT(owned_of("pay"), ElementsAre(0, 2, 4, 6)) << "shared with c; what the list says of ourselves is old";
  EXPECT_THAT(owned_of("mail"), IsEmpty()) << "others run it";
  EXPECT_THAT(source.handlers, ElementsAre("pay"));
}

TEST_F(RebalancerTest, ANewHandlerIsAnnouncedAtOnceAndSharedByAll) {
  tell_handlers({{"a", {"mail"}}, {"b", {"pay"}}});
  start().step();
  handle("mail");
  rebalancer->handlers_changed();
  step_after(0ms);
  EXPECT_THAT(source.handlers, ElementsAre("mail", "pay"));
  EXPECT_THAT(owned_of("mail"), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(owned_of("pay"), SizeIs(8));
}

TEST_F(RebalancerTest, HandlersOfOthersThatChangeCountAtOnce) {
  tell_handlers({{"a", {"mail"}}, {"b", {"pay"}}});
  start().step();
  EXPECT_THAT(owned.back(), SizeIs(8));
  tell_handlers({{"a", {"mail", "pay"}}, {"b", {"pay"}}});
  step_after(3s);
  EXPECT_THAT(owned.back(), ElementsAre(1, 3, 5, 7));
}

TEST_F(RebalancerTest, AnInstanceStandsByForGivenAwayShardsUntilAllHaveHeard) {
  tell({"b"});
  start().step();
  EXPECT_THAT(stood_by(), IsEmpty());
  tell({"a", "b"});
  step_after(3s);
  step_after(1s);
  EXPECT_THAT(owned.back(), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(stood_by(), SizeIs(8));
  step_after(7s);
  EXPECT_THAT(stood_by(), SizeIs(8)) << "a beat, and the longest that a list waits";
  step_after(1s);
  EXPECT_THAT(stood_by(), IsEmpty());
}

TEST_F(RebalancerTest, ShardsOfAListThatWaitsToCountAreStoodByFor) {
  tell({"a", "b", "c"});
  start().step();
  tell({"a", "b"});
  step_after(3s);
  EXPECT_THAT(owned.back(), ElementsAre(1, 4, 7)) << "it may be back";
  EXPECT_THAT(stood_by(), ElementsAre(1, 3, 5, 7));
  tell({"a", "b", "c"});
  step_after(3s);
  EXPECT_THAT(stood_by(), IsEmpty()) << "it never left";
}

TEST_F(RebalancerTest, AListThatLostMoreThanHalfIsNotStoodByFor) {
  tell({"a", "b", "c", "d", "e"});
  start().step();
  tell({"b"});
  step_after(3s);
  EXPECT_THAT(stood_by(), IsEmpty()) << "a registry that was restarted must not send all of us to all shards";
}

TEST_F(RebalancerTest, HandlersThatDoNotFitAreComplainedOfOnce) {
  tell({"a", "b"});
  source.list->handlers_left_out = true;
  start().step();
  logged.clear();
  for (int i = 0; i < 3; ++i) step_after(3s);
  EXPECT_THAT(logged, IsEmpty());
}

TEST_F(RebalancerTest, AViewHasMembersAndShardsOfOneMoment) {
  constexpr int kChanges = 5000;
  tell({"b"});
  start().step();
  std::atomic<int> of_two_moments = 0;
  {
    const std::jthread reader{[&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const ClusterView view = rebalancer->view();
        if (view.shards.size() * view.members.size() != 8) ++of_two_moments;
      }
    }};
    for (int i = 0; i < kChanges; ++i) {
      tell(i % 2 == 0 ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{"b"});
      step_after(10s);
      step_after(10s);  // now the list has rested
    }
  }
  EXPECT_EQ(of_two_moments, 0);
  EXPECT_THAT(owned, SizeIs(kChanges + 1));
}

}  // namespace
}  // namespace easyretry::engine
