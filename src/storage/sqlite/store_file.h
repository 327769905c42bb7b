#pragma once
// The file of a store: whether a path can hold our database, and the lock that keeps a second engine out. Reasons to
// refuse a path are thrown as StoreError with the path and the remedy.

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
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

// Runs `body` on a thread with its own table of file descriptors. A process that closes any descriptor of a file loses
// all its POSIX locks on that file, SQLite's and those of the application's own connections among them; but these locks
// belong to the table, and so a thread with another one may open and close the file. False: the system does not allow
// it, and `body` was not run.
bool with_own_descriptors(const std::function<void()>& body);

// One engine per database file: an flock on <database>.lock and one on the database itself, held as long as the object
// lives and released by the kernel when the process dies. The lock file holds the owner's pid, for the message to a
// second engine, and stays behind, unlocked. The lock on the database holds if the lock file has been deleted, and if
// the database is opened by another name (docs/decisions/055-the-lock-of-a-sqlite-file.md).
class StoreLock {
 public:
  // Makes the database if it does not exist. Throws StoreError: unavailable if another store holds it,
  // invalid_argument if the lock file cannot be made.
  explicit StoreLock(const std::filesystem::path& database);
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

 private:
  enum class Taken { yes, in_use, not_possible };
  Taken lock_database(const std::filesystem::path& database);
  void release();

  int lock_file_ = -1;
  std::array<int, 2> holder_{-1, -1};  // a socket pair: the locked descriptor is a message that is never received
};

}  // namespace easyretry::storage::sqlite
