#include <easyretry/time.h>

namespace easyretry {
namespace {

class SystemClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); }
  Instant steady() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace easyretry
