// A server that does not answer is left alone for a second.

#include "storage/redis/link.h"

#include "storage/redis/connection.h"
#include "support/cutting_proxy.h"
#include "support/manual_pauses.h"
#include "unit/redis/support.h"

namespace easyretry::storage {
namespace {

class RedisLink : public ::testing::Test {
 protected:
  // Empty: there was an answer.
  std::string trouble() {
    try {
      link.run(redis::Lane::work, 0, redis::Command::of("PING"));
      return {};
    } catch (const server::ServerError& error) {
      EXPECT_EQ(error.trouble(), server::Trouble::silent);
      return error.what();
    }
  }

  test::CuttingProxy proxy{test::shared_server_port(ServerKind::redis)};
  const redis::Address address{.port = proxy.port(), .user = "easyretry", .password = "secret", .patience = 1s};
  test::ManualPauses clock;
  redis::Link link{std::make_unique<redis::OneServer>(address.endpoint()), {.address = address, .pauses = &clock}};
};

TEST_F(RedisLink, ToASilentServerFailsAtOnceForASecondAndThenAsksIt) {
  const std::string told = to_string(address.endpoint()) + " does not answer";
  EXPECT_EQ(trouble(), "");
  proxy.freeze();
  EXPECT_EQ(trouble(), "the server does not answer") << "this caller has waited for the reply";
  proxy.thaw();
  EXPECT_EQ(trouble(), told);
  clock.advance(999ms);
  EXPECT_EQ(trouble(), told) << "failures meanwhile do not extend the second";
  clock.advance(1ms);
  EXPECT_EQ(trouble(), "");
}

}  // namespace
}  // namespace easyretry::storage
