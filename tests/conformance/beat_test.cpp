// beat and leave: which members are alive, by the store's clock.

#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

constexpr Millis kTtl = 10s;

class Meeting {
 public:
  explicit Meeting(storage::Store& store) : store_(store) {}
  std::vector<Member> members(std::string_view node, std::string_view name_space = "shop") {
    return must(store_.beat({.name_space = name_space, .node = node, .ttl = kTtl})).members;
  }
  std::vector<std::string> nodes(std::string_view node, std::string_view name_space = "shop") {
    std::vector<std::string> names;
    for (const Member& member : members(node, name_space)) names.push_back(member.node);
    return names;
  }

 private:
  storage::Store& store_;
};

TEST_P(MeetingStore, AMemberThatBeatsIsAlive) {
  Meeting meeting{store()};
  EXPECT_THAT(meeting.nodes("b"), ElementsAre("b"));
  EXPECT_THAT(meeting.nodes("a"), ElementsAre("a", "b"));
  EXPECT_THAT(meeting.nodes("b"), ElementsAre("a", "b"));
}

TEST_P(MeetingStore, TheLivingComeInTheOrderOfTheirBytes) {
  Meeting meeting{store()};
  for (const char* node : {"b", "B", "a:10", "a:9", "\xc3\xa4"}) meeting.nodes(node);
  EXPECT_THAT(meeting.nodes("b"), ElementsAre("B", "a:10", "a:9", "b", "\xc3\xa4"));
}

TEST_P(MeetingStore, ABeatThatIsReliedOnIsHeardLikeAnyOther) {
  const auto relied_on = [&](std::string_view says) {
    return must(store().beat(
        {.name_space = "shop", .node = "a", .ttl = kTtl, .says = says, .promise = storage::Promise::kept}));
  };
  EXPECT_EQ(relied_on("3 seats").members.at(0).says, "3 seats");
  EXPECT_EQ(relied_on("5 seats").members.at(0).says, "5 seats");
  EXPECT_EQ(must(store().members("shop")).members.at(0).says, "5 seats");
}

TEST_P(MeetingStore, ABeatTellsTheStoresTime) {
  EXPECT_EQ(must(store().beat({.name_space = "shop", .node = "a", .ttl = kTtl})).now, now());
}

TEST_P(MeetingStore, AMemberThatIsSilentForItsTimeIsDead) {
  Meeting meeting{store()};
  meeting.nodes("a");
  clock().advance(kTtl - 1ms);
  EXPECT_THAT(meeting.nodes("b"), ElementsAre("a", "b"));
  clock().advance(1ms);
  EXPECT_THAT(meeting.nodes("b"), ElementsAre("b"));
}

TEST_P(MeetingStore, EveryBeatMovesTheEndOfALife) {
  Meeting meeting{store()};
  for (int i = 0; i < 5; ++i) {
    meeting.nodes("a");
    clock().advance(kTtl - 1ms);
  }
  EXPECT_THAT(meeting.nodes("b"), ElementsAre("a", "b"));
}

TEST_P(MeetingStore, AMemberHasJoinedWithItsFirstBeat) {
  Meeting meeting{store()};
  const TimePoint first = now();
  meeting.nodes("a");
  clock().advance(1s);
  EXPECT_EQ(meeting.members("a").at(0).since, first);
}

TEST_P(MeetingStore, WhoWasDeadHasJoinedAnew) {
  Meeting meeting{store()};
  meeting.nodes("a");
  clock().advance(kTtl);
  EXPECT_EQ(meeting.members("a").at(0).since, now());
}

TEST_P(MeetingStore, AllMembersHearTheLastAnnouncement) {
  must(store().beat({.name_space = "shop", .node = "a", .ttl = kTtl, .says = "first"}));
  must(store().beat({.name_space = "shop", .node = "a", .ttl = kTtl, .says = "then \xc3\xa4"}));
  EXPECT_EQ(Meeting{store()}.members("b").at(0).says, "then \xc3\xa4");
}

TEST_P(MeetingStore, AllMembersHearWhichHandlersAMemberRuns) {
  using Handlers = std::vector<std::string>;
  const Handlers odd{"a b", "line\nbreak", "mail.send", "quote\"", "\xc3\xa4"};
  must(store().beat({.name_space = "shop", .node = "a", .ttl = kTtl, .says = "8: 0-7", .handlers = odd}));
  must(store().beat({.name_space = "shop", .node = "b", .ttl = kTtl, .says = "none", .handlers = Handlers{}}));
  must(store().beat({.name_space = "shop", .node = "c", .ttl = kTtl, .says = "an older release"}));
  for (int i = 0; i < 2; ++i) {  // the second time nothing has changed
    const auto seen =
        must(store().beat({.name_space = "shop", .node = "a", .ttl = kTtl, .says = "8: 0-7", .handlers = odd})).members;
    ASSERT_THAT(seen, SizeIs(3));
    EXPECT_EQ(seen[0].handlers, odd);
    EXPECT_EQ(seen[0].says, "8: 0-7");
    EXPECT_EQ(seen[1].handlers, Handlers{});
    EXPECT_EQ(seen[2].handlers, std::nullopt);
    EXPECT_EQ(seen[2].says, "an older release");
  }
  EXPECT_EQ(must(store().members("shop")).members.at(0).handlers, odd);
}

TEST_P(MeetingStore, AddedAndRemovedHandlersAreHeardWithTheNextBeat) {
  using Handlers = std::vector<std::string>;
  const auto beat = [&](std::string_view node, Handlers handlers) {
    return must(store().beat({.name_space = "shop", .node = node, .ttl = kTtl, .handlers = std::move(handlers)}))
        .members;
  };
  beat("a", {"mail"});
  beat("b", {"mail"});
  EXPECT_EQ(beat("a", {"mail", "pay"}).at(0).handlers, (Handlers{"mail", "pay"})) << "also by whoever says it";
  EXPECT_EQ(beat("b", {"mail"}).at(0).handlers, (Handlers{"mail", "pay"}));
  beat("a", {});
  EXPECT_EQ(beat("b", {"mail"}).at(0).handlers, Handlers{});
}

// Rather than a beat that fails.
TEST_P(MeetingStore, TooManyHandlersToBeAnnouncedAreLeftOut) {
  std::vector<std::string> many;
  for (int i = 1000; i < 2000; ++i) many.push_back("handler-with-a-long-name-" + std::to_string(i));
  must(store().beat({.name_space = "shop", .node = "a", .ttl = kTtl, .says = "8: 0-7", .handlers = many}));
  const auto seen = Meeting{store()}.members("b");
  EXPECT_EQ(seen.at(0).handlers, std::nullopt) << "it is taken to run all";
  EXPECT_EQ(seen.at(0).says, "8: 0-7");
}

TEST_P(MeetingStore, LookingIsNotJoining) {
  Meeting meeting{store()};
  meeting.nodes("a");
  const auto seen = must(store().members("shop"));
  EXPECT_THAT(seen.members, SizeIs(1));
  EXPECT_EQ(seen.now, now());
  clock().advance(kTtl);
  EXPECT_THAT(must(store().members("shop")).members, IsEmpty());
}

TEST_P(MeetingStore, AMemberThatLeavesIsGoneAtOnce) {
  Meeting meeting{store()};
  meeting.nodes("a");
  EXPECT_TRUE(must(store().leave("shop", "a")));
  EXPECT_THAT(meeting.nodes("b"), ElementsAre("b"));
  EXPECT_FALSE(must(store().leave("shop", "a")));
}

TEST_P(MeetingStore, NamespacesDoNotSeeEachOther) {
  Meeting meeting{store()};
  meeting.nodes("a", "shop");
  EXPECT_THAT(meeting.nodes("b", "bank"), ElementsAre("b"));
  must(store().leave("bank", "a"));
  EXPECT_THAT(meeting.nodes("c", "shop"), ElementsAre("a", "c"));
}

}  // namespace
}  // namespace easyretry::test
