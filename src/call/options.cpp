#include <stdexcept>
#include <string>

#include <easyretry/options.h>

#include "base/utf8.h"
#include "cluster/open_membership.h"

namespace easyretry {
namespace {

[[noreturn]] void wrong(const char* field, const std::string& value, const char* remedy) {
  throw std::invalid_argument(std::string{"engine option "} + field + " is " + value + "; " + remedy);
}

void check(const char* field, std::int64_t value, std::int64_t least, std::int64_t most, const char* unit) {
  if (value >= least && value <= most) return;
  wrong(field, std::to_string(value) + unit,
        ("use " + std::to_string(least) + unit + " to " + std::to_string(most) + unit).c_str());
}

constexpr std::int64_t kMinute = 60'000;  // ms
constexpr std::int64_t kDay = 1440 * kMinute;
constexpr std::int64_t kMebibyte = 1'048'576;

}  // namespace

void validate(const EngineOptions& options) {
  if (options.name_space.empty() || options.name_space.size() > 64)
    wrong("name_space", '"' + options.name_space + '"', "use 1 to 64 bytes");
  if (base::storable_utf8(options.name_space) != options.name_space)
    wrong("name_space", '"' + base::storable_utf8(options.name_space) + '"',
          "use UTF-8 without NUL, which every store can keep");
  check("workers", options.workers, 1, 4096, "");
  check("window", options.window.count(), 10, 10 * kMinute, " ms");
  check("poll", options.poll.count(), 10, 10 * kMinute, " ms");
  check("lease", options.lease.count(), 100, kDay, " ms");
  check("grace", options.grace.count(), 1, kDay, " ms");
  check("drain", options.drain.count(), 0, kDay, " ms");
  check("max_crashes", options.max_crashes, 1, 1000, "");
  check("batch", static_cast<std::int64_t>(options.batch), 1, 10'000, "");
  check("read_ahead", static_cast<std::int64_t>(options.read_ahead), 1'024, 100'000'000, "");
  validate(options.encryption);
  cluster::parse_membership(options.membership);
  check("max_payload", static_cast<std::int64_t>(options.max_payload), 2, 64 * kMebibyte, "");
}

}  // namespace easyretry
