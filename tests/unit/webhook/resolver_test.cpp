#include "webhook/resolver.h"

#include <atomic>
#include <future>
#include <mutex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.h"

namespace easyretry::webhook {
namespace {

using testing::SizeIs;

// Lookups that end when the test says so. Shared with threads that outlive the resolver.
struct SlowNames {
  std::atomic<int> asked{0};
  std::promise<void> go_on;
  std::shared_future<void> may_go_on = go_on.get_future().share();
  std::mutex mutex;
  std::set<std::string> found;  // guarded by mutex

  std::set<std::string> all_found() {
    const std::lock_guard lock{mutex};
    return found;
  }
};

std::unique_ptr<Resolver> resolver_of(const std::shared_ptr<SlowNames>& names) {
  return std::make_unique<Resolver>(
      [names](const std::string&) -> Addresses {
        ++names->asked;
        names->may_go_on.wait();
        return std::vector{parse_address("127.0.0.1").value()};
      },
      [names](const std::string& host, const Addresses&) {
        const std::lock_guard lock{names->mutex};
        names->found.insert(host);
      });
}

TEST(AResolver, LooksUpEightNamesAtOnceAndAllInTheEnd) {
  const auto names = std::make_shared<SlowNames>();
  const auto resolver = resolver_of(names);
  for (int i = 0; i < 50; ++i) resolver->ask("host" + std::to_string(i));
  ASSERT_TRUE(test::eventually([&] { return names->asked == 8; }));
  names->go_on.set_value();
  EXPECT_TRUE(test::eventually([&] { return names->all_found().size() == 50; }));
  EXPECT_EQ(names->asked, 50);
}

TEST(AResolver, LooksUpAgainAfterItHadNothingToDo) {
  const auto names = std::make_shared<SlowNames>();
  const auto resolver = resolver_of(names);
  names->go_on.set_value();
  for (const std::size_t count : {1U, 2U}) {
    resolver->ask("host" + std::to_string(count));
    EXPECT_TRUE(test::eventually([&] { return names->all_found().size() == count; }));
  }
}

TEST(AResolver, EndsWithoutWaitingAndLooksUpNothingMore) {
  const auto names = std::make_shared<SlowNames>();
  auto resolver = resolver_of(names);
  for (int i = 0; i < 50; ++i) resolver->ask("host" + std::to_string(i));
  ASSERT_TRUE(test::eventually([&] { return names->asked == 8; }));
  resolver.reset();
  names->go_on.set_value();
  EXPECT_TRUE(test::eventually([&] { return names.use_count() == 1; }));  // all threads have ended
  EXPECT_THAT(names->found, SizeIs(8));
}

TEST(LookingUp, FindsThisMachineByItsName) {
  const auto found = look_up_here("localhost");
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, testing::AnyOf(testing::Contains(parse_address("127.0.0.1").value()),
                                     testing::Contains(parse_address("::1").value())));
}

}  // namespace
}  // namespace easyretry::webhook
