// How long a link tries while a cluster is being changed.

#include "storage/redis/link.h"

#include "support/manual_pauses.h"
#include "unit/redis_cluster/support.h"

namespace easyretry::storage {
namespace {

using redis::Lane;
using redis::Request;

// Believes no server: at the end of a move, two may name each other.
class WrongMap final : public redis::Topology {
 public:
  explicit WrongMap(redis::Endpoint always, int until_right = 1'000) : always_(std::move(always)), left_(until_right) {}
  redis::Endpoint of(redis::Slot) override { return left_ > 0 ? always_ : right_; }
  void look_again(const redis::Endpoint&) override {}
  bool moved(redis::Slot, const redis::Endpoint& to) override {
    right_ = to;
    --left_;
    return true;
  }

 private:
  const redis::Endpoint always_;
  int left_;  // redirections until it follows one
  redis::Endpoint right_;
};

class RedisLinkInACluster : public ::testing::Test {
 protected:
  redis::Answer asked_of_another_node(int until_right) {
    const RedisCluster cluster{test::shared_server_port(ServerKind::redis_cluster)};
    const redis::Slot slot = redis::slot_of("k");
    for (const auto& node : cluster.primaries()) {
      if (!node.has(slot)) {
        redis::Address address{.port = node.port, .user = "easyretry", .password = "secret"};
        redis::Link link{std::make_unique<WrongMap>(address.endpoint(), until_right),
                         {.address = address, .connections = 1, .slots = {slot}, .pauses = &clock}};
        const Request request{.slot = slot, .command = redis::Command::of("GET", "{k}")};
        return std::move(link.run(Lane::work, {&request, 1}, {}).front());
      }
    }
    throw std::runtime_error("there is one primary alone");
  }

  test::ManualPauses clock;
};

TEST_F(RedisLinkInACluster, FollowsARedirectionAtOnce) {
  EXPECT_FALSE(asked_of_another_node(1).reply->is_error());
  EXPECT_THAT(clock.taken(), IsEmpty());
}

TEST_F(RedisLinkInACluster, PausesBetweenServersThatNameEachOther) {
  EXPECT_FALSE(asked_of_another_node(3).reply->is_error());
  EXPECT_THAT(clock.taken(), ElementsAre(2ms, 4ms));
}

TEST_F(RedisLinkInACluster, GivesUpAfterEightRoundsAndAnEighthOfASecond) {
  EXPECT_THAT(std::string{asked_of_another_node(1'000).reply->text()}, ::testing::StartsWith("MOVED "));
  EXPECT_THAT(clock.taken(), ElementsAre(2ms, 4ms, 8ms, 16ms, 32ms, 64ms));
}

}  // namespace
}  // namespace easyretry::storage
