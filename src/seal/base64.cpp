#include "seal/base64.h"

#include <openssl/evp.h>

#include "seal/crypto.h"

namespace easyretry::seal {
namespace {

constexpr std::size_t kQuad = 4;

std::size_t padding(std::string_view text) {
  if (!text.ends_with('=')) return 0;
  return text.ends_with("==") ? 2 : 1;
}

// The last characters may have bits that belong to no byte. OpenSSL ignores them.
bool ends_as_written(std::string_view text, std::string_view bytes) {
  const std::size_t tail = bytes.size() % 3 == 0 ? 3 : bytes.size() % 3;
  return base64_encode(bytes.substr(bytes.size() - tail)) == text.substr(text.size() - kQuad);
}

}  // namespace

void base64_encode(std::string_view bytes, char* out) {
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out), raw(bytes), static_cast<int>(bytes.size()));
}

std::string base64_encode(std::string_view bytes) {
  std::string text(base64_size(bytes.size()), '\0');
  base64_encode(bytes, text.data());
  return text;
}

// Checked here because OpenSSL reads '=' as 'A' anywhere and skips white space at both ends.
std::optional<std::string> base64_decode(std::string_view text) {
  if (text.empty()) return std::string{};
  const std::size_t pad = padding(text);
  if (text.size() % kQuad != 0 || text.size() > kMaxBase64) return std::nullopt;
  if (text.substr(0, text.size() - pad).find('=') != std::string_view::npos) return std::nullopt;

  std::string bytes(text.size() / kQuad * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), raw(text), static_cast<int>(text.size()));
  if (size != static_cast<int>(bytes.size())) return std::nullopt;
  bytes.resize(bytes.size() - pad);
  if (!ends_as_written(text, bytes)) return std::nullopt;
  return bytes;
}

}  // namespace easyretry::seal
