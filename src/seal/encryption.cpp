#include <algorithm>
#include <stdexcept>

#include <openssl/crypto.h>

#include <easyretry/encryption.h>

#include "seal/key_id.h"

namespace easyretry {
namespace {

using Keys = std::vector<EncryptionKey>;

[[noreturn]] void refuse(const std::string& field, const std::string& value, const std::string& remedy) {
  throw std::invalid_argument("encryption." + field + " = " + value + ": " + remedy);
}

bool has_key(const Keys& keys, const std::string& id) {
  return std::any_of(keys.begin(), keys.end(), [&](const EncryptionKey& key) { return key.id() == id; });
}

void check_member(const Keys& keys, const std::string& field, const std::string& id) {
  if (!has_key(keys, id))
    refuse(field, seal::quoted_key_id(id), "is not the id of one of encryption.keys; add it there");
}

void check_pair(const EncryptionKey& a, const EncryptionKey& b) {
  const std::string ids = seal::quoted_key_id(a.id()) + ", " + seal::quoted_key_id(b.id());
  if (a.id() == b.id()) refuse("keys", ids, "one id twice; each key needs its own id");
  if (CRYPTO_memcmp(a.secret().data(), b.secret().data(), EncryptionKey::kBytes) == 0) {
    refuse("keys", ids, "two ids for one secret; make a new secret with: openssl rand -hex 32");
  }
}

void check_off(const Encryption& encryption) {
  if (encryption.current.empty() && encryption.identity_key.empty() && !encryption.require) return;
  refuse("keys", "{}", "nothing would be encrypted; give the keys, or leave out encryption altogether");
}

}  // namespace

void validate(const Encryption& encryption) {
  const Keys& keys = encryption.keys;
  if (!encryption.enabled()) return check_off(encryption);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = i + 1; j < keys.size(); ++j) check_pair(keys[i], keys[j]);
  }
  check_member(keys, "current", encryption.current);
  if (!encryption.identity_key.empty()) check_member(keys, "identity_key", encryption.identity_key);
}

}  // namespace easyretry
