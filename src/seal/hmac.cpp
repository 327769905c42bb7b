#include "seal/hmac.h"

#include <stdexcept>

#include <openssl/core_names.h>
#include <openssl/params.h>

namespace easyretry::seal {
namespace {

using Pool = ContextPool<EVP_MAC_CTX, &EVP_MAC_CTX_free>;

Pool::Owned make_context(const Secret<32>& key) {
  const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> mac{EVP_MAC_fetch(nullptr, "HMAC", nullptr), &EVP_MAC_free};
  Pool::Owned context{EVP_MAC_CTX_new(mac.get())};
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                                   OSSL_PARAM_construct_end()};
  if (!context || EVP_MAC_init(context.get(), key.bytes.data(), key.bytes.size(), parameters) != 1) {
    throw std::runtime_error("OpenSSL cannot set up HMAC-SHA256");
  }
  return context;
}

}  // namespace

Hmac::Hmac(std::span<const unsigned char, 32> key) : key_(key), contexts_([this] { return make_context(key_); }) {}

std::array<unsigned char, 32> Hmac::operator()(std::string_view text) {
  auto context = contexts_.take();
  std::array<unsigned char, 32> digest{};
  std::size_t size = 0;
  // Without a key, init starts over with the one it has.
  if (EVP_MAC_init(context.get(), nullptr, 0, nullptr) != 1 ||
      EVP_MAC_update(context.get(), reinterpret_cast<const unsigned char*>(text.data()), text.size()) != 1 ||
      EVP_MAC_final(context.get(), digest.data(), &size, digest.size()) != 1) {
    throw std::runtime_error("OpenSSL cannot compute an HMAC-SHA256");
  }
  contexts_.put_back(std::move(context));
  return digest;
}

}  // namespace easyretry::seal
