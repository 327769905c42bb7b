#pragma once
// The tasks of the fault tests: what they are called, how they end, and how long they take.

#include <string>

#include <easyretry/easyretry.h>

namespace easyretry::fault {

using namespace std::chrono_literals;

inline constexpr int kNumbersPerLife = 1'000'000;

inline std::string key_of(int number) {
  return "task-" + std::to_string(number);
}
inline int number_of(const std::string& key) {
  return std::stoi(key.substr(5));
}

inline bool always_fails(int number) {
  return number % 10 == 0;
}
inline bool fails_once(int number) {
  return number % 10 == 1;
}
inline bool is_slow(int number) {
  return number % 20 == 2;
}

inline Policy policy_of_work() {
  return {.backoff = Fixed{20ms, 20ms}, .stop = {.max_attempts = 3}};
}

}  // namespace easyretry::fault
