#pragma once
// Base64 (RFC 4648 §4) with padding. Decoding is strict: a sequence of bytes has exactly one text.

#include <optional>
#include <string>
#include <string_view>

namespace easyretry::seal {

// The most that one call can handle, because OpenSSL counts in int.
inline constexpr std::size_t kMaxBase64 = std::size_t{1} << 30;

constexpr std::size_t base64_size(std::size_t bytes) {
  return (bytes + 2) / 3 * 4;
}

// Writes base64_size(bytes.size()) characters and a zero byte to `out`.
void base64_encode(std::string_view bytes, char* out);
std::string base64_encode(std::string_view bytes);

// Returns nullopt for any text that base64_encode() would not have written.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace easyretry::seal
