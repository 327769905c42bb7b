#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <openssl/crypto.h>

#include <easyretry/encryption.h>

#include "seal/sealed_text.h"

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

constexpr const char* kEnding = ".key";

[[noreturn]] void refuse(const KeyFolder& from, const std::string& problem) {
  throw std::invalid_argument("encryption: " + problem + " in the folder " + from.folder);
}

// Sorted by name: which key comes first must not depend on the file system.
std::vector<std::filesystem::path> key_files(const KeyFolder& from) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry{from.folder, error}, end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == kEnding) files.push_back(entry->path());
  }
  if (error) {
    throw std::invalid_argument("encryption: the folder " + from.folder + " cannot be read (" + error.message() + ")");
  }
  std::sort(files.begin(), files.end());
  return files;
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

Encryption read_keys(const KeyFolder& from) {
  Encryption encryption{.current = from.current, .identity_key = from.identity_key, .require = from.require};
  if (from.folder.empty()) {
    validate(encryption);
    return encryption;
  }
  for (const auto& file : key_files(from)) {
    encryption.keys.push_back(EncryptionKey::from_file(file.stem().string(), file));
  }
  if (encryption.keys.empty()) {
    refuse(from, "there is no file NAME.key; make one with: (umask 077; openssl rand -hex 32 > NAME.key)");
  }
  const bool one = encryption.keys.size() == 1;
  if (one && encryption.current.empty()) encryption.current = encryption.keys.front().id();
  if (!one && encryption.current.empty()) refuse(from, "set `current` to the key to use, one of those");
  // The default, the first key, could change when a file is added.
  if (!one && encryption.identity_key.empty()) {
    refuse(from, "set `identity_key` to the first key, from which task keys are derived, one of those");
  }
  validate(encryption);
  return encryption;
}

}  // namespace easyretry
