#include "storage/sqlite/lock_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <easyretry/error.h>

namespace easyretry::storage::sqlite {
namespace {

std::string holder(int file) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(file, text.data(), text.size() - 1, 0);
  const std::string pid = size > 0 ? std::string{text.data(), std::strcspn(text.data(), "\n")} : std::string{};
  if (pid.empty()) return "another process";
  return pid == std::to_string(::getpid()) ? "this process (pid " + pid + ")" : "process " + pid;
}

[[noreturn]] void refuse_second(const std::filesystem::path& database, int file) {
  const std::string who = holder(file);
  ::close(file);
  throw StoreError{{Errc::unavailable, "sqlite.open",
                    database.string() + " is in use by " + who +
                        ". One engine owns a SQLite file: share that engine, stop it first, or give this one a file of "
                        "its own (several processes: use a database server)"}};
}

[[noreturn]] void refuse_unwritable(const std::filesystem::path& database, const std::string& lock, int error) {
  throw StoreError{{Errc::invalid_argument, "sqlite.open",
                    "cannot write to the folder of " + database.string() + ": " + lock + ": " + std::strerror(error) +
                        ". Give the user that runs this process write access to the folder, or choose another one"}};
}

}  // namespace

LockFile::LockFile(const std::filesystem::path& database) {
  const std::string path = database.string() + ".lock";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) refuse_unwritable(database, path, errno);
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) refuse_second(database, file);
  file_ = file;
  const std::string pid = std::to_string(::getpid()) + "\n";
  // Only a courtesy to the second comer: on a full disk the lock holds all the same.
  if (::ftruncate(file_, 0) == 0) static_cast<void>(!::pwrite(file_, pid.data(), pid.size(), 0));
}

LockFile::~LockFile() {
  ::close(file_);
}

}  // namespace easyretry::storage::sqlite
