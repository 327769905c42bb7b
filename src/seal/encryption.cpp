#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include <easyretry/encryption.h>

#include "seal/base64.h"
#include "seal/sealed_text.h"

namespace easyretry {
namespace {

constexpr std::size_t kHexDigits = 2 * EncryptionKey::kBytes;

[[noreturn]] void refuse(std::string_view id, const std::string& problem) {
  throw std::invalid_argument("encryption key " + seal::quoted_key_id(id) + ": " + problem);
}

[[noreturn]] void refuse_secret(std::string_view id, const std::string& problem) {
  refuse(id, problem + "; make one with: openssl rand -hex 32");
}

void check_id(std::string_view id) {
  if (seal::is_key_id(id)) return;
  refuse(id, "an id has 1 to 64 letters, digits, dots, dashes and underscores, such as 2026-11");
}

// Rejects a made-up key, such as one from an example.
void check_not_a_placeholder(std::string_view id, EncryptionKey::Secret secret) {
  const bool one_byte = std::all_of(secret.begin(), secret.end(), [&](unsigned char b) { return b == secret[0]; });
  if (one_byte) refuse_secret(id, "is the same byte 32 times");
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

constexpr std::size_t kMaxFile = 1024;

class Descriptor {
 public:
  // O_NONBLOCK, because opening a named pipe would wait for a writer.
  explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) throw std::invalid_argument(std::strerror(errno));
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Links are followed and the group may read, because containers get their secrets that way.
void check_access(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) throw std::invalid_argument(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw std::invalid_argument("is not a file");
  if ((status.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
    throw std::invalid_argument("is open to others; chmod 600 it, and make a new key if they may have read it");
  }
}

// The content, without surrounding white space, of a small file that only its owner may change and others may not read.
// Throws std::invalid_argument with the reason. The content is wiped on destruction.
class KeyFile {
 public:
  explicit KeyFile(const std::string& path);
  ~KeyFile();
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;

  std::string_view text() const;

 private:
  std::string content_;
};

KeyFile::KeyFile(const std::string& path) {
  const Descriptor file{path};
  check_access(file.get());
  content_.resize(kMaxFile);
  const ssize_t size = ::read(file.get(), content_.data(), content_.size());
  if (size < 0) throw std::invalid_argument(std::strerror(errno));
  if (size == static_cast<ssize_t>(kMaxFile)) throw std::invalid_argument("is too long for a key");
  std::memset(content_.data() + size, ' ', content_.size() - static_cast<std::size_t>(size));
}

KeyFile::~KeyFile() {
  OPENSSL_cleanse(content_.data(), content_.size());
}

std::string_view KeyFile::text() const {
  constexpr const char* kNamespace = " \t\r\n";
  const std::string_view all = content_;
  const std::size_t begin = all.find_first_not_of(kNamespace);
  if (begin == std::string_view::npos) return {};
  return all.substr(begin, all.find_last_not_of(kNamespace) - begin + 1);
}

}  // namespace

EncryptionKey::~EncryptionKey() {
  OPENSSL_cleanse(secret_.data(), secret_.size());
}

EncryptionKey EncryptionKey::from_hex(std::string id, std::string_view hex) {
  EncryptionKey key{std::move(id)};
  check_id(key.id_);
  if (hex.size() != kHexDigits) {
    refuse_secret(key.id_, "has " + std::to_string(hex.size()) + " characters instead of 64 hex digits");
  }
  for (std::size_t i = 0; i < kBytes; ++i) {
    const auto high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
    if (!high || !low) refuse_secret(key.id_, "has characters that are not hex digits");
    key.secret_[i] = static_cast<unsigned char>(*high << 4 | *low);
  }
  check_not_a_placeholder(key.id_, key.secret_);
  return key;
}

EncryptionKey EncryptionKey::from_base64(std::string id, std::string_view base64) {
  EncryptionKey key{std::move(id)};
  check_id(key.id_);
  auto bytes = seal::base64_decode(base64);
  if (!bytes) refuse_secret(key.id_, "is not base64");
  if (bytes->size() == kBytes) std::copy(bytes->begin(), bytes->end(), key.secret_.begin());
  OPENSSL_cleanse(bytes->data(), bytes->size());
  if (bytes->size() != kBytes) {
    refuse_secret(key.id_, "has " + std::to_string(bytes->size()) + " bytes instead of 32");
  }
  check_not_a_placeholder(key.id_, key.secret_);
  return key;
}

EncryptionKey::Secret EncryptionKey::secret() const {
  return secret_;
}

EncryptionKey EncryptionKey::from_file(std::string id, const std::string& file) {
  check_id(id);
  try {
    const KeyFile content{file};
    const std::string_view text = content.text();
    return text.size() == kHexDigits ? from_hex(std::move(id), text) : from_base64(std::move(id), text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("key file " + file + ": " + error.what());
  }
}

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
