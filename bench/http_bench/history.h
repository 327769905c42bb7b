#pragma once
// A long history: tasks of many handlers that ended in the last weeks, with all outcomes, and some that are still live.
// It is created with the functions of the store, on a clock that runs ahead.

#include <cstddef>
#include <cstdint>
#include <string>

#include <easyretry/time.h>

#include "http_bench/parts.h"

namespace easyretry::bench {

struct Past {
  static constexpr std::size_t kHandlers = 20;
  static constexpr std::size_t kTasksPerBusiness = 5;
  static constexpr std::size_t kSeldom =
      100'000;  // one in this many tasks is of the rare handler, and one is quarantined

  static constexpr std::chrono::hours kLength{24 * 45};  // within the three months that are kept

  std::size_t rows = 0;
  TimePoint begins{};

  static std::string handler(std::size_t number) { return "shop.handler-" + std::to_string(number % kHandlers); }
  static std::string rare_handler() { return "shop.rare"; }
  std::string business_id(std::size_t number) const {
    return "order-" + std::to_string(number % (rows / kTasksPerBusiness));
  }
  static std::string key(std::size_t number) { return "key-" + std::to_string(number); }
};

// Fills the file, unless it exists and was filled by this function. Throws std::runtime_error if it has another number
// of rows.
Past make_past(const std::filesystem::path& file, std::size_t rows, const Progress& progress);

}  // namespace easyretry::bench
