#include "storage/sqlite/durability.h"

#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

std::uint64_t DiskSync::committed() {
  const std::lock_guard lock{mutex_};
  return ++committed_;
}

std::uint64_t DiskSync::last_commit() {
  const std::lock_guard lock{mutex_};
  return committed_;
}

int DiskSync::wait_for(std::uint64_t number, const Sync& sync) {
  std::unique_lock lock{mutex_};
  while (tried_ < number) {
    if (syncing_) {
      changed_.wait(lock);
      continue;
    }
    const std::uint64_t from = tried_;
    const std::uint64_t upto = committed_;
    syncing_ = true;
    lock.unlock();
    const int code = sync();
    lock.lock();
    syncing_ = false;
    tried_ = upto;
    if (code != 0) {
      failure_ = code;
      failed_from_ = from;
      failed_to_ = upto;
    }
    changed_.notify_all();
  }
  return number > failed_from_ && number <= failed_to_ ? failure_ : 0;
}

void Trust::lose(const std::string& cause) {
  const std::lock_guard lock{mutex_};
  if (broken()) return;  // the first failure is the one to report
  why_ = "writing " + file_.string() + " to the disk failed: " + cause +
         "; no request is served until it has been written again and read back";
  ++epoch_;
}

void Trust::restore() {
  const std::lock_guard lock{mutex_};
  if (broken()) ++epoch_;
}

void Trust::check() const {
  if (broken()) throw SqliteError{SQLITE_IOERR_FSYNC, why()};
}

std::string Trust::why() const {
  const std::lock_guard lock{mutex_};
  return why_;
}

}  // namespace easyretry::storage::sqlite
