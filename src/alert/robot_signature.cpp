#include "alert/robot_signature.h"

#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "seal/base64.h"

namespace easyretry::alert {
namespace {

constexpr std::size_t kDigestBytes = 32;

std::string signed_base64(std::string_view key, std::string_view text) {
  std::string digest(kDigestBytes, '\0');
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
           text.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr) == nullptr) {
    throw std::runtime_error("OpenSSL cannot compute an HMAC-SHA256");
  }
  return seal::base64_encode(digest);
}

// Of base64, these alone mean something in a query.
std::string in_query(std::string_view base64) {
  std::string text;
  for (const char c : base64) {
    switch (c) {
      case '+': text += "%2B"; break;
      case '/': text += "%2F"; break;
      case '=': text += "%3D"; break;
      default: text += c;
    }
  }
  return text;
}

}  // namespace

std::string dingtalk_query(std::string_view secret, TimePoint now) {
  const std::string time = std::to_string(now.time_since_epoch().count());
  return "&timestamp=" + time + "&sign=" + in_query(signed_base64(secret, time + "\n" + std::string{secret}));
}

FeishuSignature feishu_signature(std::string_view secret, TimePoint now) {
  const std::string time = std::to_string(std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
  return {time, signed_base64(time + "\n" + std::string{secret}, "")};
}

}  // namespace easyretry::alert
