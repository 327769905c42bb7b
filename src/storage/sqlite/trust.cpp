#include "storage/sqlite/trust.h"

#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

void Trust::lose(const std::string& cause) {
  const std::lock_guard lock{mutex_};
  if (broken()) return;  // what came first is what happened
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
