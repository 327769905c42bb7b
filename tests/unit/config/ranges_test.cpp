// The ranges of the keys match those of the engine: it accepts every value that a file may have, and vice versa.

#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace easyretry::config {
namespace {

bool engine_takes(const EngineOptions& options) {
  try {
    validate(options);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

struct Case {
  std::string key;
  std::function<void(EngineOptions&, std::int64_t)> set;
  std::string unit;
};

std::vector<Case> cases() {
  const auto number = [](std::string key, auto field) {
    return Case{std::move(key),
                [=](EngineOptions& o, std::int64_t v) { o.*field = static_cast<std::decay_t<decltype(o.*field)>>(v); },
                ""};
  };
  const auto duration = [](std::string key, auto field) {
    return Case{std::move(key), [=](EngineOptions& o, std::int64_t v) { o.*field = Millis{v}; }, "ms"};
  };
  using E = EngineOptions;
  return {number("workers", &E::workers),       duration("window", &E::window),
          duration("grace", &E::grace),         duration("poll", &E::poll),
          duration("lease", &E::lease),         number("batch", &E::batch),
          number("read_ahead", &E::read_ahead), number("max_crashes", &E::max_crashes),
          duration("drain", &E::drain),         number("max_payload", &E::max_payload)};
}

// The limits, found by doubling and bisection, must be the same for the engine and for files.
TEST(ConfigRanges, AreThoseOfTheEngine) {
  for (const Case& c : cases()) {
    const auto file_takes = [&](std::int64_t v) {
      return problems_of(c.key + ": " + std::to_string(v) + c.unit).empty();
    };
    const auto option_takes = [&](std::int64_t v) {
      EngineOptions options;
      c.set(options, v);
      return engine_takes(options);
    };
    for (std::int64_t v = 1; v < 1'000'000'000; v *= 2) EXPECT_EQ(file_takes(v), option_takes(v)) << c.key << " " << v;
    std::int64_t good = 1'000'000'000;
    while (!option_takes(good)) good /= 2;
    std::int64_t bad = 2'000'000'000;
    while (bad - good > 1) (option_takes((good + bad) / 2) ? good : bad) = (good + bad) / 2;
    EXPECT_TRUE(file_takes(good)) << c.key << " " << good;
    EXPECT_FALSE(file_takes(bad)) << c.key << " " << bad;
    std::int64_t least = good;
    std::int64_t below = -1;
    while (least - below > 1) (option_takes((least + below) / 2) ? least : below) = (least + below) / 2;
    EXPECT_TRUE(file_takes(least)) << c.key << " " << least;
    EXPECT_FALSE(file_takes(least - 1)) << c.key << " " << least - 1;
  }
}

TEST(ConfigRanges, ASpaceIsAsLongAsTheEngineTakes) {
  for (const std::size_t length : {0U, 1U, 64U, 65U}) {
    EngineOptions options;
    options.name_space = std::string(length, 'x');
    EXPECT_EQ(problems_of("namespace: '" + options.name_space + "'").empty(), engine_takes(options)) << length;
  }
}

TEST(ConfigRanges, HoldTheDefaults) {
  EXPECT_TRUE(problems_of(to_yaml(Config{})).empty());
}

}  // namespace
}  // namespace easyretry::config
