#include "seal/random_source.h"

#include <openssl/rand.h>

namespace easyretry::seal {

bool random_bytes(std::span<unsigned char> out) {
  return RAND_bytes(out.data(), static_cast<int>(out.size())) == 1;
}

}  // namespace easyretry::seal
