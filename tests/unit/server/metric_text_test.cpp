#include "server/metric_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::server {
namespace {

using ::testing::HasSubstr;

constexpr std::array<std::uint64_t, 2> kBounds{2'500'000, 1'000'000'000};

TEST(MetricText, NumbersOfOneNameStandTogetherUnderItsKindAndMeaning) {
  MetricText text;
  text.declare(MetricKind::gauge, "a", "An a.");
  text.declare(MetricKind::counter, "b_total", "A b.");
  text.add("a", {{"x", "1"}}, 3);
  text.add("b_total", {}, 5);
  text.add("a", {{"x", "2"}}, 0.25);
  EXPECT_EQ(text.text(),
            "# HELP a An a.\n# TYPE a gauge\na{x=\"1\"} 3\na{x=\"2\"} 0.25\n"
            "# HELP b_total A b.\n# TYPE b_total counter\nb_total 5\n");
}

TEST(MetricText, BucketsOfAHistogramAddUpAndAreInTheDeclaredUnit) {
  engine::Histogram histogram{kBounds};
  for (const std::uint64_t value : {1'000'000, 500'000'000, 500'000'000, 2'000'000'000}) histogram.add(value);
  MetricText text;
  text.declare(MetricKind::histogram, "h", "An h.");
  text.add("h", {}, histogram.read(), 1e9);
  EXPECT_THAT(text.text(), HasSubstr("h_count 4\nh_sum 3.001\nh_bucket{le=\"0.0025\"} 1\nh_bucket{le=\"1\"} 3\n"
                                     "h_bucket{le=\"+Inf\"} 4\n"));
}

TEST(MetricText, ALabelCannotBreakOutOfItsQuotes) {
  MetricText text;
  text.declare(MetricKind::gauge, "a", "An a.");
  text.add("a", {{"handler", "x\"} 1\nevil \\"}}, 3);
  EXPECT_THAT(text.text(), HasSubstr(R"(a{handler="x\"} 1\nevil \\"} 3)"));
}

TEST(MetricText, ALabelDrivesNoTerminal) {
  MetricText text;
  text.declare(MetricKind::gauge, "a", "An a.");
  text.add("a", {{"handler", "\x1b[2J\r\n\u009b"}}, 3);
  EXPECT_THAT(text.text(), HasSubstr(R"(a{handler="\\u001b[2J\\u000d\n\\u009b"} 3)"));
}

TEST(MetricText, AnUndeclaredMetricIsAnError) {
  MetricText text;
  EXPECT_THROW(text.add("a", {}, 1), std::logic_error);
}

}  // namespace
}  // namespace easyretry::server
