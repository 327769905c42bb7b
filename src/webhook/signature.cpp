#include "webhook/signature.h"

#include <algorithm>
#include <stdexcept>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "seal/base64.h"

namespace easyretry::webhook {
namespace {

constexpr std::string_view kPrefix = "whsec_";
constexpr std::size_t kDigestBytes = 32;

[[noreturn]] void refuse_secret(const std::string& why) {
  throw std::invalid_argument("a webhook secret " + why + "; make one with: echo whsec_$(openssl rand -base64 32)");
}

void check_id(std::string_view id) {
  const bool plain = std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (id.empty() || !plain) throw std::invalid_argument("a webhook id must contain only letters, digits, - and _");
}

std::string one_signature(std::string_view content, const SigningSecret& secret) {
  const auto key = secret.bytes();
  std::string digest(kDigestBytes, '\0');
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(content.data()), content.size(),
           reinterpret_cast<unsigned char*>(digest.data()), nullptr) == nullptr) {
    throw std::runtime_error("OpenSSL cannot compute an HMAC-SHA256");
  }
  return "v1," + seal::base64_encode(digest);
}

}  // namespace

SigningSecret::SigningSecret(std::string_view text) {
  if (!text.starts_with(kPrefix)) refuse_secret("must begin with whsec_");
  auto bytes = seal::base64_decode(text.substr(kPrefix.size()));
  if (!bytes) refuse_secret("must be base64 after whsec_");
  size_ = bytes->size();
  const bool good = size_ >= kFewestBytes && size_ <= kMostBytes;
  if (good) std::ranges::copy(*bytes, bytes_.begin());
  OPENSSL_cleanse(bytes->data(), bytes->size());
  if (!good) refuse_secret("must have 24 to 64 bytes, not " + std::to_string(size_));
}

SigningSecret::~SigningSecret() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

std::string signature(const SignedMessage& message, std::span<const SigningSecret> secrets) {
  check_id(message.id);
  if (secrets.empty()) throw std::invalid_argument("a webhook cannot be signed without a secret");
  std::string content{message.id};
  content.append(".").append(std::to_string(message.sent.time_since_epoch().count())).append(".").append(message.body);
  std::string all;
  for (const SigningSecret& secret : secrets) all.append(all.empty() ? "" : " ").append(one_signature(content, secret));
  return all;
}

}  // namespace easyretry::webhook
