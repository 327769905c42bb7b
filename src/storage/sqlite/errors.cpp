#include "storage/sqlite/errors.h"

#include <string>

namespace easyretry::storage::sqlite {
namespace {

Errc code_of(int code, During during) {
  switch (code) {
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH: return Errc::invalid_argument;
    case SQLITE_IOERR: return during == During::commit ? Errc::in_doubt : Errc::unavailable;
    default: return Errc::unavailable;
  }
}

std::string_view remedy(int code) {
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "; another program holds the database's write lock: end its transaction";
    case SQLITE_FULL: return "; free some space, then it works again";
    case SQLITE_IOERR: return "; the disk failed to read or write: check it and the system log";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "; the file is damaged: stop, keep a copy, and restore a backup or use sqlite3's .recover";
    case SQLITE_READONLY:
    case SQLITE_PERM: return "; the file has become read-only: check its permissions and the mount";
    case SQLITE_TOOBIG: return "; a text of the task is larger than SQLite can hold (1 GB)";
    default: return "";
  }
}

}  // namespace

Error to_error(const SqliteError& error, std::string_view where, During during) {
  std::string detail = error.what();
  detail.append(" (SQLite code ")
      .append(std::to_string(error.extended_code()))
      .append(")")
      .append(remedy(error.code()));
  return {code_of(error.code(), during), std::string{where}, std::move(detail)};
}

bool breaks_connection(const SqliteError& error) {
  switch (error.code()) {
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL: return true;
    default: return false;
  }
}

}  // namespace easyretry::storage::sqlite
