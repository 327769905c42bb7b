#pragma once
// The algorithms that Sealer uses, on top of OpenSSL: AES-256-GCM, HMAC-SHA256 and HKDF-SHA256.

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace easyretry::seal {

// A text as OpenSSL takes it.
inline const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Bytes that are wiped on destruction.
template <std::size_t N>
struct Secret {
  std::array<unsigned char, N> bytes{};

  Secret() = default;
  explicit Secret(std::span<const unsigned char, N> from) { std::copy(from.begin(), from.end(), bytes.begin()); }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { OPENSSL_cleanse(bytes.data(), N); }
};

// OpenSSL contexts with their key already set: setting it up costs more than sealing a small payload. A context serves
// one caller at a time, and the pool grows to the largest number of concurrent callers. Thread-safe.
template <class Context, void (*Free)(Context*)>
class ContextPool {
 public:
  struct Freed {
    void operator()(Context* context) const { Free(context); }
  };
  using Owned = std::unique_ptr<Context, Freed>;

  explicit ContextPool(std::function<Owned()> make) : make_(std::move(make)) { put_back(make_()); }

  Owned take() {
    {
      const std::lock_guard lock{mutex_};
      if (!idle_.empty()) {
        Owned context = std::move(idle_.back());
        idle_.pop_back();
        return context;
      }
    }
    return make_();
  }

  // Do not return a context after a failure: its state is unknown.
  void put_back(Owned context) {
    const std::lock_guard lock{mutex_};
    idle_.push_back(std::move(context));
  }

 private:
  const std::function<Owned()> make_;  // throws if OpenSSL fails
  std::mutex mutex_;
  std::vector<Owned> idle_;  // guarded by mutex_
};

inline constexpr std::size_t kNonceBytes = 12;
inline constexpr std::size_t kTagBytes = 16;

using Bytes = std::span<const unsigned char>;

// AES-256-GCM with one key. decrypt() fails if the ciphertext, or the authenticated text beside it, was changed.
// Thread-safe.
class AesGcm {
 public:
  // Throws std::runtime_error if OpenSSL lacks AES-256-GCM.
  explicit AesGcm(std::span<const unsigned char, 32> key);

  // Writes plain.size() bytes and the tag to `out`. Never use a nonce twice. Returns false if OpenSSL fails.
  bool encrypt(Bytes nonce, std::string_view beside, std::string_view plain, unsigned char* out);
  // Takes the output of encrypt() and writes kTagBytes fewer bytes to `out`. If it returns false, do not use them.
  bool decrypt(Bytes nonce, std::string_view beside, std::string_view sealed, unsigned char* out);

 private:
  const Secret<32> key_;
  ContextPool<EVP_CIPHER_CTX, &EVP_CIPHER_CTX_free> contexts_;
};

// HMAC-SHA256 with one key. Thread-safe.
class Hmac {
 public:
  explicit Hmac(std::span<const unsigned char, 32> key);
  // Throws std::runtime_error if OpenSSL fails, which means that memory has run out.
  std::array<unsigned char, 32> operator()(std::string_view text);

 private:
  const Secret<32> key_;
  ContextPool<EVP_MAC_CTX, &EVP_MAC_CTX_free> contexts_;
};

// HKDF-SHA256 (RFC 5869) without salt: derives independent keys from one secret and different labels, so that no key
// serves two purposes. Throws std::runtime_error if OpenSSL lacks HKDF.
void derive(std::span<const unsigned char, 32> secret, std::string_view label, Secret<32>& out);

}  // namespace easyretry::seal
