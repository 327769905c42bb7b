#include "seal/crypto.h"

#include <memory>
#include <stdexcept>

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

namespace easyretry::seal {
namespace {

using CipherPool = ContextPool<EVP_CIPHER_CTX, &EVP_CIPHER_CTX_free>;

constexpr int kEncrypt = 1;
constexpr int kDecrypt = 0;

CipherPool::Owned make_cipher(const Secret<32>& key) {
  CipherPool::Owned context{EVP_CIPHER_CTX_new()};
  if (!context ||
      EVP_CipherInit_ex2(context.get(), EVP_aes_256_gcm(), key.bytes.data(), nullptr, kEncrypt, nullptr) != 1) {
    throw std::runtime_error("OpenSSL cannot set up AES-256-GCM");
  }
  return context;
}

// The nonce starts a new message; cipher and key stay. Without an output buffer, the text is only authenticated.
bool start(EVP_CIPHER_CTX* context, int direction, Bytes nonce, std::string_view beside) {
  int written = 0;
  return EVP_CipherInit_ex2(context, nullptr, nullptr, nonce.data(), direction, nullptr) == 1 &&
         EVP_CipherUpdate(context, nullptr, &written, raw(beside), static_cast<int>(beside.size())) == 1;
}

bool update(EVP_CIPHER_CTX* context, std::string_view in, unsigned char* out) {
  int written = 0;
  return in.empty() || EVP_CipherUpdate(context, out, &written, raw(in), static_cast<int>(in.size())) == 1;
}

bool finish(EVP_CIPHER_CTX* context) {
  unsigned char none[kTagBytes];  // GCM has nothing left to write
  int written = 0;
  return EVP_CipherFinal_ex(context, none, &written) == 1;
}

bool set_tag(EVP_CIPHER_CTX* context, std::string_view tag) {
  return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTagBytes, const_cast<char*>(tag.data())) == 1;
}

bool get_tag(EVP_CIPHER_CTX* context, unsigned char* tag) {
  return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag) == 1;
}

using MacPool = ContextPool<EVP_MAC_CTX, &EVP_MAC_CTX_free>;

MacPool::Owned make_mac(const Secret<32>& key) {
  const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> mac{EVP_MAC_fetch(nullptr, "HMAC", nullptr), &EVP_MAC_free};
  MacPool::Owned context{EVP_MAC_CTX_new(mac.get())};
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                                   OSSL_PARAM_construct_end()};
  if (!context || EVP_MAC_init(context.get(), key.bytes.data(), key.bytes.size(), parameters) != 1) {
    throw std::runtime_error("OpenSSL cannot set up HMAC-SHA256");
  }
  return context;
}

OSSL_PARAM octets(const char* name, const void* data, std::size_t size) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<void*>(data), size);
}

}  // namespace

AesGcm::AesGcm(std::span<const unsigned char, 32> key) : key_(key), contexts_([this] { return make_cipher(key_); }) {}

bool AesGcm::encrypt(Bytes nonce, std::string_view beside, std::string_view plain, unsigned char* out) {
  auto context = contexts_.take();
  const bool ok = start(context.get(), kEncrypt, nonce, beside) && update(context.get(), plain, out) &&
                  finish(context.get()) && get_tag(context.get(), out + plain.size());
  if (ok) contexts_.put_back(std::move(context));
  return ok;
}

bool AesGcm::decrypt(Bytes nonce, std::string_view beside, std::string_view sealed, unsigned char* out) {
  const std::string_view body = sealed.substr(0, sealed.size() - kTagBytes);
  auto context = contexts_.take();
  const bool ok = start(context.get(), kDecrypt, nonce, beside) && update(context.get(), body, out) &&
                  set_tag(context.get(), sealed.substr(body.size())) && finish(context.get());
  if (ok) contexts_.put_back(std::move(context));
  return ok;
}

Hmac::Hmac(std::span<const unsigned char, 32> key) : key_(key), contexts_([this] { return make_mac(key_); }) {}

std::array<unsigned char, 32> Hmac::operator()(std::string_view text) {
  auto context = contexts_.take();
  std::array<unsigned char, 32> digest{};
  std::size_t size = 0;
  // Without a key, init starts again with the current one.
  if (EVP_MAC_init(context.get(), nullptr, 0, nullptr) != 1 ||
      EVP_MAC_update(context.get(), raw(text), text.size()) != 1 ||
      EVP_MAC_final(context.get(), digest.data(), &size, digest.size()) != 1) {
    throw std::runtime_error("OpenSSL cannot compute an HMAC-SHA256");
  }
  contexts_.put_back(std::move(context));
  return digest;
}

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
