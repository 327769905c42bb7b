#include "server/webhook_handler.h"

#include <gtest/gtest.h>

namespace easyretry::server {
namespace {

using End = engine::Called::End;

TEST(AWebhookWithoutAResponse, IsRetriedUnlessItMayNotBeCalled) {
  EXPECT_EQ(unanswered({Errc::unavailable, "webhook", "could not connect"}).end, End::failed);
  EXPECT_EQ(unanswered({Errc::in_doubt, "webhook", "no answer"}).end, End::failed);
  const engine::Called refused = unanswered({Errc::invalid_argument, "webhook", "10.1.2.3 may not be called"});
  EXPECT_EQ(refused.end, End::rejected);
  EXPECT_EQ(refused.message, "10.1.2.3 may not be called");
}

}  // namespace
}  // namespace easyretry::server
