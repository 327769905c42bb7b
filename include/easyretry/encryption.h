#pragma once
// Keys for the arguments and results of stored tasks: AES-256-GCM, with keys that can be changed while tasks wait.
// docs/encryption.md says how to make a key, how to change it, and what is not protected.

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace easyretry {

// A named secret of 32 bytes. Never printed, and wiped when it goes; the text it was made from is the caller's to wipe.
// Whatever makes no good key throws std::invalid_argument, which names the key and what to do, never the secret.
class EncryptionKey {
 public:
  static constexpr std::size_t kBytes = 32;
  using Secret = std::span<const unsigned char, kBytes>;

  // The id is stored beside what the key sealed: 1 to 64 letters, digits, dots, dashes and underscores.
  static EncryptionKey from_hex(std::string id, std::string_view hex);
  static EncryptionKey from_base64(std::string id, std::string_view base64);
  // Hex or base64, with or without a line end. Refuses a file that others may read or write, or its group may write.
  static EncryptionKey from_file(std::string id, const std::filesystem::path& file);

  EncryptionKey(const EncryptionKey&) = default;
  EncryptionKey& operator=(const EncryptionKey&) = default;
  ~EncryptionKey();

  const std::string& id() const { return id_; }
  Secret secret() const { return secret_; }

 private:
  explicit EncryptionKey(std::string id) : id_(std::move(id)) {}

  std::string id_;
  std::array<unsigned char, kBytes> secret_{};
};

// No keys: nothing is encrypted.
struct Encryption {
  std::string current{};              // the id of the key that seals from now on
  std::vector<EncryptionKey> keys{};  // this one, and all others that a stored task may need
  // The id of the key behind the keys of tasks that were submitted without one. It must stay the same, and stay among
  // the keys, or equal submissions are not recognised as equal any more. Empty: the first of `keys`.
  std::string identity_key{};
  // Refuse what is not encrypted. Until all tasks stored before encryption was switched on have ended, leave it off;
  // while it is off, whoever can write to the store can put in a task of their own.
  bool require = false;

  bool enabled() const { return !keys.empty(); }
};

// Throws std::invalid_argument naming the key and what would be right.
void validate(const Encryption& encryption);

// Keys as files of one folder: 2026-11.key has the key with the id 2026-11. What else is in the folder is left alone.
struct KeyFolder {
  std::filesystem::path folder{};  // empty: nothing is encrypted
  std::string current{};           // may be left out while there is one key
  std::string identity_key{};      // the same
  bool require = false;
  friend bool operator==(const KeyFolder&, const KeyFolder&) = default;
};

// Throws std::invalid_argument naming the file and what would be right.
Encryption read_keys(const KeyFolder& from);

}  // namespace easyretry
