#include "seal/aes_gcm.h"

#include <stdexcept>

namespace easyretry::seal {
namespace {

using Pool = ContextPool<EVP_CIPHER_CTX, &EVP_CIPHER_CTX_free>;

constexpr int kEncrypt = 1;
constexpr int kDecrypt = 0;

const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Pool::Owned make_context(const Secret<32>& key) {
  Pool::Owned context{EVP_CIPHER_CTX_new()};
  if (!context ||
      EVP_CipherInit_ex2(context.get(), EVP_aes_256_gcm(), key.bytes.data(), nullptr, kEncrypt, nullptr) != 1) {
    throw std::runtime_error("OpenSSL cannot set up AES-256-GCM");
  }
  return context;
}

// The nonce starts a new message; cipher and key stay. With no place to write to, the text is only authenticated.
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

}  // namespace

AesGcm::AesGcm(std::span<const unsigned char, 32> key) : key_(key), contexts_([this] { return make_context(key_); }) {}

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

}  // namespace easyretry::seal
