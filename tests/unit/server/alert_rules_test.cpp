// packaging/alert-rules.yaml is what Prometheus takes.

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

namespace {

TEST(AlertRules, EachHasANameOfItsOwnAnExpressionASeverityAndASummary) {
  const YAML::Node groups = YAML::LoadFile(EASYRETRY_ROOT "/packaging/alert-rules.yaml")["groups"];
  std::set<std::string> names;
  for (const auto& group : groups) {
    EXPECT_FALSE(group["name"].as<std::string>().empty());
    for (const auto& rule : group["rules"]) {
      const auto name = rule["alert"].as<std::string>();
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_THAT(rule["expr"].as<std::string>(), ::testing::HasSubstr("easyretry_")) << name;
      EXPECT_THAT(rule["labels"]["severity"].as<std::string>(), ::testing::AnyOf("warning", "critical")) << name;
      EXPECT_FALSE(rule["annotations"]["summary"].as<std::string>().empty()) << name;
    }
  }
  EXPECT_FALSE(names.empty());
}

}  // namespace
