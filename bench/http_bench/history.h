#pragma once
// A long past: tasks of many handlers that ended in the last weeks, in all ways, and some that are still to be done. It
// is made by the store's own verbs, on a clock that runs ahead.

#include <cstddef>
#include <cstdint>
#include <string>

#include <easyretry/time.h>

#include "http_bench/parts.h"

namespace easyretry::bench {

struct Past {
  static constexpr std::size_t kHandlers = 20;
  static constexpr std::size_t kTasksPerBusiness = 5;
  static constexpr std::size_t kSeldom = 100'000;  // of so many tasks one is of the rare handler, one is quarantined

  static constexpr std::chrono::hours kLength{24 * 45};  // never in more than three months, which are kept

  std::size_t rows = 0;
  TimePoint begins{};

  static std::string handler(std::size_t number) { return "shop.handler-" + std::to_string(number % kHandlers); }
  static std::string rare_handler() { return "shop.rare"; }
  std::string business_id(std::size_t number) const {
    return "order-" + std::to_string(number % (rows / kTasksPerBusiness));
  }
  static std::string key(std::size_t number) { return "key-" + std::to_string(number); }
};

// Fills the file, unless it is there and was filled by this. Throws std::runtime_error where it has another number of
// rows.
Past make_past(const std::filesystem::path& file, std::size_t rows, const Progress& progress);

}  // namespace easyretry::bench
