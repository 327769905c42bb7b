#pragma once
// The line that an engine logs about its store when it starts.

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <easyretry/engine.h>

namespace easyretry::test {

inline std::pair<LogLevel, std::string> line_at_start(const std::string& url) {
  std::mutex mutex;
  std::vector<std::pair<LogLevel, std::string>> lines;
  EngineOptions options;
  options.log = [&](LogLevel level, std::string_view text) {
    const std::lock_guard lock{mutex};
    if (text.starts_with("store ")) lines.emplace_back(level, text);
  };
  Engine engine{url, options};
  engine.start();
  engine.stop();
  EXPECT_EQ(lines.size(), 1U);
  return lines.empty() ? std::pair<LogLevel, std::string>{} : lines.front();
}

}  // namespace easyretry::test
