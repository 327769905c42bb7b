#pragma once

#include <array>

#include <openssl/crypto.h>

namespace easyretry::seal {

// Bytes that are wiped when they go.
template <std::size_t N>
struct Secret {
  std::array<unsigned char, N> bytes{};

  Secret() = default;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { OPENSSL_cleanse(bytes.data(), N); }
};

}  // namespace easyretry::seal
