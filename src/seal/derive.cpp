#include "seal/derive.h"

#include <memory>
#include <stdexcept>

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

namespace easyretry::seal {
namespace {

OSSL_PARAM octets(const char* name, const void* data, std::size_t size) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<void*>(data), size);
}

}  // namespace

void derive(std::span<const unsigned char, 32> secret, std::string_view label, Secret<32>& out) {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> hkdf{EVP_KDF_fetch(nullptr, "HKDF", nullptr), &EVP_KDF_free};
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context{EVP_KDF_CTX_new(hkdf.get()),
                                                                          &EVP_KDF_CTX_free};
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      octets(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
      octets(OSSL_KDF_PARAM_INFO, label.data(), label.size()),
      OSSL_PARAM_construct_end(),
  };
  if (!context || EVP_KDF_derive(context.get(), out.bytes.data(), out.bytes.size(), parameters) != 1) {
    throw std::runtime_error("OpenSSL cannot derive a key with HKDF-SHA256");
  }
}

}  // namespace easyretry::seal
