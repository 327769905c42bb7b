// Files that are half written, mistyped or torn: each gives a Config or a ConfigError, never anything else.

#include <random>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "config/masked_url.h"
#include "unit/config/support.h"

namespace easyretry::config {
namespace {

// A Config that was accepted can be written and read again; an error says where.
void judge(const std::string& yaml) {
  try {
    const Config config = parse_config(yaml, "f");
    if (masked_url(config.store) != config.store) return;  // to_yaml() masks the password
    RC_ASSERT(compare(config, parse_config(to_yaml(config), "again")).empty());
  } catch (const ConfigError& error) {
    RC_ASSERT(!error.problems().empty());
    for (const std::string& problem : error.problems()) RC_ASSERT(problem.starts_with("f") || problem.starts_with("…"));
  }
}

TEST(ConfigMutations, EveryTruncationIsReadOrRefused) {
  for (std::size_t length = 0; length < kExample.size(); ++length) {
    try {
      parse_config(kExample.substr(0, length));
    } catch (const ConfigError& error) {
      EXPECT_FALSE(error.problems().empty());
    }
  }
}

RC_GTEST_PROP(ConfigMutations, ManyMutationsAreReadOrRefused, (std::uint32_t seed)) {
  static constexpr std::string_view kSigns = "\n\t :#'\"\\-?&*!|>%@`{}[],~=.\r0 9az\x00\x04\x7f\xc3\xa4\xff";
  std::mt19937 random{seed};
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>{0, n - 1}(random); };
  for (int round = 0; round < 20; ++round) {
    std::string yaml{kExample};
    for (std::size_t changes = 1 + below(8); changes > 0 && !yaml.empty(); --changes) {
      const std::size_t at = below(yaml.size());
      const std::size_t length = below(12);
      switch (below(4)) {
        case 0: yaml[at] = kSigns[below(kSigns.size())]; break;
        case 1: yaml.insert(at, 1, kSigns[below(kSigns.size())]); break;
        case 2: yaml.erase(at, length); break;
        default: yaml.insert(at, yaml.substr(below(yaml.size()), length)); break;
      }
    }
    judge(yaml);
  }
}

}  // namespace
}  // namespace easyretry::config
