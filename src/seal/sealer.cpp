#include "seal/sealer.h"

#include <algorithm>
#include <stdexcept>

#include <openssl/rand.h>

#include "seal/crypto.h"

namespace easyretry::seal {
namespace {

constexpr const char* kSeal = "encryption.seal";
constexpr const char* kOpen = "encryption.open";
constexpr std::string_view kSealingLabel = "easyretry sealing AES-256-GCM 1";
constexpr std::string_view kIdentityLabel = "easyretry identity HMAC-SHA256 1";

const Encryption& checked(const Encryption& encryption) {
  validate(encryption);
  if (!encryption.enabled()) throw std::invalid_argument("encryption.keys = {}: there is nothing to encrypt with");
  return encryption;
}

template <class Algorithm>
std::unique_ptr<Algorithm> with_derived_key(const EncryptionKey& key, std::string_view label) {
  Secret<32> derived;
  derive(key.secret(), label, derived);
  return std::make_unique<Algorithm>(derived.bytes);
}

auto ciphers_of(const Encryption& encryption) {
  std::map<std::string, std::unique_ptr<AesGcm>, std::less<>> ciphers;
  for (const EncryptionKey& key : encryption.keys) {
    ciphers.emplace(key.id(), with_derived_key<AesGcm>(key, kSealingLabel));
  }
  return ciphers;
}

const EncryptionKey& identity_key(const Encryption& encryption) {
  const auto& keys = encryption.keys;
  if (encryption.identity_key.empty()) return keys.front();
  return *std::find_if(keys.begin(), keys.end(),
                       [&](const EncryptionKey& key) { return key.id() == encryption.identity_key; });
}

unsigned char* raw(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

tl::unexpected<Error> unreadable(const Binding& binding, const std::string& why) {
  return fail(Errc::invalid_argument, kOpen, "the stored " + std::string{to_string(binding.content)} + ": " + why);
}

}  // namespace

bool random_bytes(std::span<unsigned char> out) {
  return RAND_bytes(out.data(), static_cast<int>(out.size())) == 1;
}

Sealer::Sealer(const Encryption& encryption, RandomSource random)
    : random_(random),
      require_(checked(encryption).require),
      current_(encryption.current),
      ciphers_(ciphers_of(encryption)),
      identity_(with_derived_key<Hmac>(identity_key(encryption), kIdentityLabel)) {}

Sealer::~Sealer() = default;

Result<std::string> Sealer::seal(std::string_view plain, const Binding& binding) const {
  if (plain.size() > kMaxPlain) {
    return fail(Errc::invalid_argument, kSeal, std::to_string(plain.size()) + " bytes; at most 256 MiB can be sealed");
  }
  std::string data(kNonceBytes + plain.size() + kTagBytes, '\0');
  const std::span<unsigned char> nonce{raw(data), kNonceBytes};
  if (!random_(nonce)) return fail(Errc::unavailable, kSeal, "the system cannot provide random numbers; try again");
  if (!ciphers_.at(current_)->encrypt(nonce, encode(binding), plain, raw(data) + kNonceBytes)) {
    return fail(Errc::unavailable, kSeal, "OpenSSL could not encrypt; try again");
  }
  return write_sealed(current_, data);
}

Result<std::string> Sealer::open(std::string_view stored, const Binding& binding) const {
  switch (form_of(stored, binding.content)) {
    case Form::sealed: return open_sealed(stored, binding);
    case Form::damaged: return unreadable(binding, "damaged, neither a sealed payload nor a plain one");
    case Form::plain: break;
  }
  if (require_) {
    return unreadable(binding,
                      "not encrypted, and encryption.require is set; submit the task again, or turn that off until all "
                      "older tasks have ended");
  }
  return std::string{stored};
}

Result<std::string> Sealer::open_sealed(std::string_view stored, const Binding& binding) const {
  const auto text = read_sealed(stored);
  if (!text) return unreadable(binding, "sealed, but " + std::string{text.error()});
  const std::string key = "sealed with the key " + quoted_key_id(text->key_id);
  const auto cipher = ciphers_.find(text->key_id);
  if (cipher == ciphers_.end()) {
    return unreadable(binding, key + ", which is missing; add it to encryption.keys until no stored task needs it");
  }
  const Bytes data{reinterpret_cast<const unsigned char*>(text->data.data()), text->data.size()};
  std::string plain(data.size() - kNonceBytes - kTagBytes, '\0');
  const std::string_view sealed = std::string_view{text->data}.substr(kNonceBytes);
  if (!cipher->second->decrypt(data.first(kNonceBytes), encode(binding), sealed, raw(plain))) {
    return unreadable(binding,
                      key + ", but changed since, or copied from another task, or the key has a different secret");
  }
  return plain;
}

std::string Sealer::identity(std::string_view canonical_arguments) const {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::size_t kIdentityBytes = 16;
  const auto digest = (*identity_)(canonical_arguments);
  std::string text;
  text.reserve(2 * kIdentityBytes);
  for (const unsigned char byte : std::span{digest}.first<kIdentityBytes>()) {
    text.push_back(kHex[byte >> 4]);
    text.push_back(kHex[byte & 15]);
  }
  return text;
}

}  // namespace easyretry::seal
