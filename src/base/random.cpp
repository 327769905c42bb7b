#include "base/random.h"

#include <random>

namespace easyretry::base {

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace easyretry::base
