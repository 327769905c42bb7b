#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <easyretry/config.h>

namespace easyretry::config {

inline constexpr std::string_view kExample = R"(store: sqlite:retry.db
namespace: payments
workers: 16
window: 5s
lease: 30s
defaults:
  persist: retry_only
  max_attempts: 16
  backoff: exponential first=1s cap=15m jitter=1s
  never_retry: [std::invalid_argument]
handlers:
  payment.pay:
    max_attempts: 5
    max_duration: 1h
    success_when: result.code == 200
    concurrency: 4
    timeout: 10s
)";

// The problems of a file called easyretry.yaml; empty if there are none.
inline std::vector<std::string> problems_of(std::string_view yaml, const Environment& environment = {}) {
  try {
    parse_config(yaml, "easyretry.yaml", environment);
  } catch (const ConfigError& error) {
    return error.problems();
  }
  return {};
}

// The same for a file with one problem.
inline std::string problem_of(std::string_view yaml, const Environment& environment = {}) {
  const auto problems = problems_of(yaml, environment);
  return problems.empty() ? "accepted" : problems.size() == 1 ? problems.front() : "several problems";
}

}  // namespace easyretry::config
