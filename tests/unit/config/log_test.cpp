#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/config.h>

#include "unit/config/support.h"

namespace easyretry::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Everything that the engine of this configuration writes to stderr for a line of each level.
std::string written_by(const Config& config) {
  ::testing::internal::CaptureStderr();
  config.engine.log(LogLevel::debug, "one");
  config.engine.log(LogLevel::info, "two");
  config.engine.log(LogLevel::warning, "three");
  return ::testing::internal::GetCapturedStderr();
}

TEST(ConfiguredLog, IsThatOfTheLibraryIfNothingIsSet) {
  EXPECT_THAT(written_by(parse_config("workers: 2")), MatchesRegex("[^\n]* easyretry: warning: three\n"));
}

TEST(ConfiguredLog, HasTheLevelAndTheFormat) {
  EXPECT_THAT(written_by(parse_config("log: {level: info}")),
              MatchesRegex("[^\n]* easyretry: info: two\n[^\n]* easyretry: warning: three\n"));
  EXPECT_THAT(written_by(parse_config("log: {level: error, format: json}")), "");
  EXPECT_THAT(written_by(parse_config("log: {format: json}")),
              MatchesRegex("[{][^\n]*\"message\":\"three\",[^\n]*[}]\n"));
}

TEST(ConfiguredLog, IsOverriddenByTheEnvironment) {
  const Config config = parse_config("log: {level: error}", "file", {{"EASYRETRY_LOG_LEVEL", "warning"}});
  EXPECT_THAT(written_by(config), MatchesRegex("[^\n]* easyretry: warning: three\n"));
  EXPECT_THAT(to_yaml(config), HasSubstr("\nlog:\n  level: warning\nserver:\n"));
}

TEST(ConfiguredLog, NeedsARestartToChange) {
  EXPECT_THAT(compare(parse_config(""), parse_config("log: {level: debug}")),
              ElementsAre(ConfigChange{"log.level", "", "debug", false}));
}

TEST(ConfiguredLog, RefusesUnknownLevelsAndFormats) {
  EXPECT_THAT(problems_of("log: {level: warnin, format: xml}"),
              ElementsAre(HasSubstr("log.level: \"warnin\" is unknown, did you mean warning?"),
                          HasSubstr("log.format: \"xml\" is unknown; write one of text, json")));
}

TEST(ListenAddress, IsAnAddressAndNotAName) {
  EXPECT_EQ(parse_config("server: {listen: '[::1]:0'}").server.listen, "[::1]:0");
  for (const char* wrong : {"localhost:7077", "[::1:7077", "::1:7077", "1.2.3:7077", "256.0.0.1:1"}) {
    EXPECT_THAT(problems_of("server: {listen: '" + std::string{wrong} + "'}"),
                ElementsAre(HasSubstr("is not an address to listen on; write an address and a port")));
  }
}

}  // namespace
}  // namespace easyretry::config
