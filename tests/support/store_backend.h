#pragma once
// The interface of a backend to the conformance suite. To register one, write a file like
// conformance/memory_backend.cpp.

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <easyretry/testing.h>

#include "storage/history.h"
#include "storage/store.h"

namespace easyretry::test {

// 2026-03-10 12:00 UTC: mid-month, so that an hour either way stays in one month's history.
inline constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 3 / 10} + std::chrono::hours{12}};

struct StoreSettings {
  storage::History history = storage::History::all;
  int total_shards = 64;
};

// A new, empty store and its clock. Its files are removed with it.
class StoreFixture {
 public:
  virtual ~StoreFixture() = default;
  virtual storage::Store& store() = 0;
  // Closes the store and opens it again as another process would; called only for backends that outlive their process.
  virtual void reopen() {}

  easyretry::testing::ManualClock clock{kStart};
};

struct StoreBackend {
  std::string name;
  std::function<std::unique_ptr<StoreFixture>(const StoreSettings&)> make;
};

inline std::ostream& operator<<(std::ostream& out, const StoreBackend& backend) {
  return out << backend.name;
}

}  // namespace easyretry::test
