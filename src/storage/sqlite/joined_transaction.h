#pragma once
// Tasks stored as part of a transaction on the application's own connection to the same file.
//
// That connection must not checkpoint (writer.h says why), so it is told not to, for good. While its transaction is
// open nobody else writes to the file: it should be short.

#include <filesystem>
#include <span>

#include "storage/sqlite/connection.h"
#include "storage/sqlite/inserts.h"

namespace easyretry::storage::sqlite {

class JoinedTransaction {
 public:
  // Throws Refusal where the connection is none, has another file open, or is not inside a transaction.
  JoinedTransaction(sqlite3* theirs, const std::filesystem::path& file);

  // All of the batch or, where it throws, nothing; the transaction itself stays open and usable.
  InsertReply insert(std::span<const NewTask> tasks, GrowingIds& ids, int total_shards, TimePoint now);

 private:
  Connection db_;
};

}  // namespace easyretry::storage::sqlite
