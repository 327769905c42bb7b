// The expected values were computed with Python's hmac.

#include <gtest/gtest.h>

#include "alert/products.h"
#include "unit/alert/support.h"

namespace easyretry::alert {
namespace {

constexpr std::string_view kSecret = "SECabc/def+ghi";

TEST(RobotSignature, DingtalkHasItInTheQueryEscaped) {
  EXPECT_EQ(dingtalk_query(kSecret, TimePoint{1'577'262'236'757ms}),
            "&timestamp=1577262236757&sign=z1rhz8qxc4n3XrWHwsOhOabky9NdTTE9gXtHB0Td%2Blk%3D");
}

TEST(RobotSignature, FeishuHasTheTimeAndTheSecretAsTheKey) {
  const auto [timestamp, sign] = feishu_signature(kSecret, TimePoint{1'599'360'473'999ms});
  EXPECT_EQ(timestamp, "1599360473");
  EXPECT_EQ(sign, "xcbyYv0YBH8DcVijjFUfNNZ+/NXm4t63/Iw1mdhEWLQ=");
}

}  // namespace
}  // namespace easyretry::alert
