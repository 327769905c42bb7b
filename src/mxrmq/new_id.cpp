#include "mxrmq/new_id.h"

#include <fmt/format.h>

#include "base/random.h"

namespace easyretry::mxrmq {

std::string new_id() {
  static base::Random random{base::random_seed()};
  const std::uint64_t high = (random.next() & ~0xf000ULL) | 0x4000;  // version 4
  const std::uint64_t low = (random.next() >> 2) | (1ULL << 63);     // RFC 4122
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffffffffffffULL);
}

}  // namespace easyretry::mxrmq
