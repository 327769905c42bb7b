#include <algorithm>
#include <stdexcept>
#include <system_error>

#include <easyretry/encryption.h>

namespace easyretry {
namespace {

constexpr const char* kEnding = ".key";

[[noreturn]] void refuse(const KeyFolder& from, const std::string& problem) {
  throw std::invalid_argument("encryption: " + problem + " in the folder " + from.folder.string());
}

// By their names: which key comes first must not depend on the file system.
std::vector<std::filesystem::path> key_files(const KeyFolder& from) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry{from.folder, error}, end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == kEnding) files.push_back(entry->path());
  }
  if (error) {
    throw std::invalid_argument("encryption: the folder " + from.folder.string() + " cannot be read (" +
                                error.message() + ")");
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

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
  // By its place it would change with a file that is added.
  if (!one && encryption.identity_key.empty()) {
    refuse(from, "set `identity_key` to the first key, from which task keys are derived, one of those");
  }
  validate(encryption);
  return encryption;
}

}  // namespace easyretry
