// A key that is live is submitted again, and the request or the reply is lost on the way: what was asked for
// duplicates holds all the same.

#include <gmock/gmock.h>

#include <easyretry/easyretry.h>

#include "fault/store_through_proxy.h"
#include "fault/work.h"

namespace easyretry::fault {
namespace {

using test::Direction;
using ::testing::SizeIs;

constexpr int kOldAttempts = 3;
constexpr int kNewAttempts = 9;

class LostDuplicate : public OnEachServer {
 protected:
  static auto pay(Engine& engine, int max_attempts) {
    Policy policy;
    policy.stop.max_attempts = max_attempts;
    return engine.retryable(
        "pay", [](int) { return done(); }, policy);
  }

  std::vector<storage::TaskRecord> live(const std::string& key) {
    storage::TaskQuery query;
    query.key = key;
    return store_->list(query).value();
  }

  // Calls `again` with keys that are live, and cuts the connection after each few bytes in either direction: before the
  // request has arrived, within it, and on the way back.
  template <class Again>
  void at_every_cut(Again again) {
    const auto first = pay(direct_, kOldAttempts);
    for (const Direction direction : {Direction::to_server, Direction::to_client}) {
      for (std::size_t bytes = 0; bytes < 3000; bytes += 83) {
        const std::string key = (direction == Direction::to_server ? "there:" : "back:") + std::to_string(bytes);
        SCOPED_TRACE(key);
        first.with({.key = key}).submit(1);
        proxy_.cut_after(direction, bytes);
        again(key);
        EXPECT_THAT(live(key), SizeIs(1));
      }
    }
  }

  int attempts_of(const std::string& key) { return live(key).at(0).rules.max_attempts; }

  const test::TestDatabase database_{GetParam()};
  test::CuttingProxy proxy_{test::shared_server_port(GetParam())};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
  Engine direct_{database_.url()};  // neither is started: they submit
  Engine cut_{in_the_clear(GetParam(), database_.url_through(proxy_.port()))};
};
ON_EACH_SERVER(LostDuplicate);
ON_REDIS(LostDuplicate);

TEST_P(LostDuplicate, IsRejectedAndNothingIsStored) {
  const auto again = pay(cut_, kNewAttempts);
  at_every_cut([&](const std::string& key) {
    EXPECT_THROW(again.with({.key = key, .on_duplicate = OnDuplicate::reject}).submit(1), DuplicateTask);
    EXPECT_EQ(attempts_of(key), kOldAttempts);
  });
}

TEST_P(LostDuplicate, HasTheNewPolicyWhereThatIsAskedFor) {
  const auto again = pay(cut_, kNewAttempts);
  at_every_cut([&](const std::string& key) {
    const TaskId id = again.with({.key = key, .on_duplicate = OnDuplicate::update_policy}).submit(1);
    EXPECT_EQ(id, live(key).at(0).info.id);
    EXPECT_EQ(attempts_of(key), kNewAttempts);
  });
}

TEST_P(LostDuplicate, RejectsABatchAsAWhole) {
  const auto again = pay(cut_, kNewAttempts);
  at_every_cut([&](const std::string& key) {
    const auto options = [&](int number) {
      return SubmitOptions{.key = number == 1 ? key : key + "/" + std::to_string(number),
                           .on_duplicate = OnDuplicate::reject};
    };
    EXPECT_THROW(again.submit_many(std::vector{0, 1, 2}, options), DuplicateTask);
    EXPECT_THAT(live(key + "/0"), SizeIs(0));
    EXPECT_THAT(live(key + "/2"), SizeIs(0));
  });
}

}  // namespace
}  // namespace easyretry::fault
