#pragma once
// The file of a store: whether a path can hold our database, and the lock that keeps a second engine out. Reasons to
// refuse a path are thrown as StoreError with the path and the remedy.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace easyretry::storage::sqlite {

// The path to use: absolute and free of symbolic links, so that two names of one file share one lock. Changes nothing.
std::filesystem::path checked_place(const std::filesystem::path& path);

// "EzRt" in the header of every database that is ours alone.
inline constexpr int kApplicationId = 0x457A5274;

// Reads the first bytes only. Refuses a file that is not a SQLite database and, unless it is to be shared, a database
// of another application.
void check_ownership(const std::filesystem::path& path, bool shared);
std::string not_ours(const std::string& path);  // the message for the latter

// The name of the network (or pass-through) file system that statfs reports with this magic number; empty for a local
// one. SQLite's WAL shares memory between connections and relies on fsync and file locks, which not all of them honour.
std::string_view network_filesystem(std::uint32_t magic);

// One engine per database file: an flock on <database>.lock, held as long as the object lives and released by the
// kernel when the process dies. The file holds the owner's pid, for the message to a second engine. It stays behind,
// unlocked.
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
