#pragma once
// Encrypts the arguments and results of stored tasks with AES-256-GCM. Keys can be rotated while tasks are waiting.
// docs/encryption.md explains how to create a key, how to rotate it, and what is not protected.

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace easyretry {

// A named secret of 32 bytes. It is never printed, and is wiped on destruction; the caller must wipe the text it came
// from. An invalid key throws std::invalid_argument, which names the key and what to do, never the secret.
class EncryptionKey {
 public:
  static constexpr std::size_t kBytes = 32;
  using Secret = std::span<const unsigned char, kBytes>;

  // The id is stored with the encrypted data: 1 to 64 letters, digits, dots, dashes and underscores.
  static EncryptionKey from_hex(std::string id, std::string_view hex);
  static EncryptionKey from_base64(std::string id, std::string_view base64);
  // Hex or base64; a trailing newline is allowed. Rejects a file that others can read or write, or its group can write.
  static EncryptionKey from_file(std::string id, const std::string& file);

  EncryptionKey(const EncryptionKey&) = default;
  EncryptionKey& operator=(const EncryptionKey&) = default;
  ~EncryptionKey();

  const std::string& id() const { return id_; }
  Secret secret() const;

 private:
  explicit EncryptionKey(std::string id) : id_(std::move(id)) {}

  std::string id_;
  std::array<unsigned char, kBytes> secret_{};
};

// Without keys, nothing is encrypted.
struct Encryption {
  std::string current{};              // id of the key that encrypts new data
  std::vector<EncryptionKey> keys{};  // the current key, and all others that a stored task may need
  // Id of the encryption key used to derive the task key of tasks submitted without one. It must not change, and must
  // stay in `keys`; otherwise equal submissions are no longer recognised as equal. Empty: the first of `keys`.
  std::string identity_key{};
  // Reject data that is not encrypted. Leave it off until all tasks stored before encryption was turned on have ended;
  // while it is off, anyone who can write to the store can insert a task.
  bool require = false;

  bool enabled() const { return !keys.empty(); }
};

// Throws std::invalid_argument with the key and what to correct.
void validate(const Encryption& encryption);

// Keys as files in one folder: 2026-11.key holds the key with the id 2026-11. Other files are ignored.
struct KeyFolder {
  std::string folder{};        // empty: nothing is encrypted
  std::string current{};       // may be empty if there is only one key
  std::string identity_key{};  // likewise
  bool require = false;
  friend bool operator==(const KeyFolder&, const KeyFolder&) = default;
};

// Throws std::invalid_argument with the file and what to correct.
Encryption read_keys(const KeyFolder& from);

}  // namespace easyretry
#pragma GCC visibility pop
