#pragma once
// AES-256-GCM under one key: encrypts, and notices any change of what it encrypted or of the text beside it.

#include <span>
#include <string_view>

#include <openssl/evp.h>

#include "seal/context_pool.h"
#include "seal/secret.h"

namespace easyretry::seal {

inline constexpr std::size_t kNonceBytes = 12;
inline constexpr std::size_t kTagBytes = 16;

using Bytes = std::span<const unsigned char>;

// Thread-safe.
class AesGcm {
 public:
  // Throws std::runtime_error where OpenSSL has no AES-256-GCM.
  explicit AesGcm(std::span<const unsigned char, 32> key);

  // Writes plain.size() bytes and the tag to `out`. A nonce must not be used twice. False: OpenSSL failed.
  bool encrypt(Bytes nonce, std::string_view beside, std::string_view plain, unsigned char* out);
  // Takes what encrypt wrote; writes kTagBytes fewer bytes to `out`, which are worthless where the answer is false.
  bool decrypt(Bytes nonce, std::string_view beside, std::string_view sealed, unsigned char* out);

 private:
  const Secret<32> key_;
  ContextPool<EVP_CIPHER_CTX, &EVP_CIPHER_CTX_free> contexts_;
};

}  // namespace easyretry::seal
