#pragma once

#include <array>
#include <span>
#include <string_view>

#include <openssl/evp.h>

#include "seal/context_pool.h"
#include "seal/secret.h"

namespace easyretry::seal {

// HMAC-SHA256 under one key. Thread-safe.
class Hmac {
 public:
  explicit Hmac(std::span<const unsigned char, 32> key);
  // Throws std::runtime_error where OpenSSL fails, which is where memory has run out.
  std::array<unsigned char, 32> operator()(std::string_view text);

 private:
  const Secret<32> key_;
  ContextPool<EVP_MAC_CTX, &EVP_MAC_CTX_free> contexts_;
};

}  // namespace easyretry::seal
