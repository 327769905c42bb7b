#pragma once

#include <algorithm>
#include <array>
#include <span>

#include <openssl/crypto.h>

namespace easyretry::seal {

// Bytes that are wiped when they go.
template <std::size_t N>
struct Secret {
  std::array<unsigned char, N> bytes{};

  Secret() = default;
  explicit Secret(std::span<const unsigned char, N> from) { std::copy(from.begin(), from.end(), bytes.begin()); }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { OPENSSL_cleanse(bytes.data(), N); }
};

}  // namespace easyretry::seal
