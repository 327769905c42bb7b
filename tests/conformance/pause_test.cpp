// pause, resume and paused: handlers that operators stop.

#include "conformance/store_conformance.h"
#include "storage/checks.h"

namespace easyretry::test {
namespace {

std::vector<PausedHandler> paused(storage::Store& store, std::string_view name_space = kNamespace) {
  return must(store.paused(name_space)).handlers;
}

TEST_P(StoreConformance, APausedHandlerIsListedWithItsTimeAndReason) {
  EXPECT_TRUE(must(store().pause(kNamespace, "payment.pay", "gateway down")));
  EXPECT_THAT(paused(store()), ElementsAre(PausedHandler{"payment.pay", now(), "gateway down"}));
}

TEST_P(StoreConformance, TheListOfPausesHasTheStoresTime) {
  EXPECT_EQ(must(store().paused(kNamespace)).now, now());
  EXPECT_THAT(paused(store()), IsEmpty());
  must(store().pause(kNamespace, "pay", ""));
  clock().advance(5s);
  EXPECT_EQ(must(store().paused(kNamespace)).now, now());
}

TEST_P(StoreConformance, PausingTwiceKeepsTheFirstTimeAndReason) {
  const TimePoint first = now();
  must(store().pause(kNamespace, "pay", "gateway down"));
  clock().advance(1min);
  EXPECT_FALSE(must(store().pause(kNamespace, "pay", "still down")));
  EXPECT_THAT(paused(store()), ElementsAre(PausedHandler{"pay", first, "gateway down"}));
}

TEST_P(StoreConformance, AResumedHandlerIsNotPausedAnyMore) {
  must(store().pause(kNamespace, "pay", ""));
  EXPECT_TRUE(must(store().resume(kNamespace, "pay")));
  EXPECT_THAT(paused(store()), IsEmpty());
  EXPECT_FALSE(must(store().resume(kNamespace, "pay"))) << "it was not paused";
  clock().advance(1s);
  EXPECT_TRUE(must(store().pause(kNamespace, "pay", "again")));
  EXPECT_THAT(paused(store()), ElementsAre(PausedHandler{"pay", now(), "again"}));
}

TEST_P(StoreConformance, PausedHandlersComeInTheOrderOfTheirBytes) {
  for (const char* name : {"b", "B", "a.10", "a.9", "\xc3\xa4", "a "}) must(store().pause(kNamespace, name, ""));
  std::vector<std::string> names;
  for (const PausedHandler& one : paused(store())) names.push_back(one.handler);
  EXPECT_THAT(names, ElementsAre("B", "a ", "a.10", "a.9", "b", "\xc3\xa4"));
}

TEST_P(StoreConformance, APauseIsOfOneNamespace) {
  must(store().pause("shop", "pay", ""));
  EXPECT_THAT(paused(store(), "bank"), IsEmpty());
  EXPECT_FALSE(must(store().resume("bank", "pay")));
  EXPECT_THAT(paused(store(), "shop"), SizeIs(1));
}

TEST_P(StoreConformance, AnInvalidNameOrReasonIsRefused) {
  const auto refused = [&](std::string_view handler, std::string_view why) {
    const auto reply = store().pause(kNamespace, handler, why);
    return !reply && reply.error().code == Errc::invalid_argument;
  };
  EXPECT_TRUE(refused("", ""));
  EXPECT_TRUE(refused(std::string(storage::kLongestHandlerName + 1, 'x'), ""));
  EXPECT_TRUE(refused("pa\xff", ""));
  EXPECT_TRUE(refused(std::string_view{"a\0b", 3}, ""));
  EXPECT_TRUE(refused("pay", std::string(storage::kLongestReason + 1, 'x')));
  EXPECT_TRUE(refused("pay", "\xff"));
  EXPECT_THAT(paused(store()), IsEmpty());

  const std::string longest(storage::kLongestHandlerName, 'x');
  std::string reason;
  for (std::size_t i = 0; i < storage::kLongestReason; ++i) reason += "\xf0\x9f\x92\xb3";
  EXPECT_TRUE(must(store().pause(kNamespace, longest, reason)));
  EXPECT_THAT(paused(store()), ElementsAre(PausedHandler{longest, now(), reason}));
}

TEST_P(StoreConformance, OneMoreThanMayBePausedIsRefused) {
  for (std::size_t i = 0; i < storage::kMostPaused; ++i) must(store().pause(kNamespace, "h" + std::to_string(i), ""));
  const auto reply = store().pause(kNamespace, "one more", "");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::invalid_argument);
  EXPECT_THAT(paused(store()), SizeIs(storage::kMostPaused));
  EXPECT_FALSE(must(store().pause(kNamespace, "h0", ""))) << "one that is paused already is not one more";
  EXPECT_TRUE(must(store().pause("bank", "one more", ""))) << "each namespace has its own";
  must(store().resume(kNamespace, "h0"));
  EXPECT_TRUE(must(store().pause(kNamespace, "one more", "")));
}

TEST_P(StoreConformance, TasksOfAPausedHandlerAreChangedAsAnyOthers) {
  must(store().pause(kNamespace, "pay", ""));
  const TaskRecord cancelled = insert(a_task().handler("pay"));
  const TaskRecord kept = insert(a_task().handler("pay"));
  EXPECT_TRUE(cancel(cancelled.info.id));
  EXPECT_TRUE(revise({.ticket = ticket(kept), .delay = 1h}));
  EXPECT_TRUE(requeue(cancelled.info.id));
  EXPECT_EQ(count({}), 2);
}

TEST_P(DurableStore, APauseOutlivesTheProcess) {
  must(store().pause(kNamespace, "pay", "gateway down"));
  const auto before = paused(store());
  reopen();
  EXPECT_EQ(paused(store()), before);
  EXPECT_TRUE(must(store().resume(kNamespace, "pay")));
  reopen();
  EXPECT_THAT(paused(store()), IsEmpty());
}

}  // namespace
}  // namespace easyretry::test
