#pragma once
// One engine per database file: an flock on <database>.lock, held as long as the object lives and let go by the kernel
// when the process dies. The file holds the owner's pid for whoever comes second; it stays behind, unlocked.

#include <filesystem>

namespace easyretry::storage::sqlite {

class LockFile {
 public:
  // Throws StoreError: unavailable if another store holds it, invalid_argument if the file cannot be made.
  explicit LockFile(const std::filesystem::path& database);
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

 private:
  int file_ = -1;
};

}  // namespace easyretry::storage::sqlite
