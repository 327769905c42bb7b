#pragma once
// Space on the disk that a commit will need later. A checkpoint copies pages from the log into the database, and the
// database may have to grow for that: on a disk that the log has filled it could not, and so the log could never be
// shortened. Therefore the database grows before the commit that makes it larger, while the transaction can still be
// refused. Used by the leader of a group only.

#include <cstdint>

#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

class ReservedSpace {
 public:
  explicit ReservedSpace(Connection& db);

  // In a transaction, before its commit. Throws SqliteError if the disk is full.
  void reserve();
  // After a checkpoint, which may shorten the file to the pages that it has.
  void forget() { reserved_ = 0; }
  // Call it after a transaction was refused because the disk is full: gives back reserved space that the log can use.
  // Best effort.
  void give_back() noexcept;

 private:
  std::int64_t needed();

  Connection& db_;
  const std::int64_t page_size_;
  PreparedStatement page_count_;
  std::int64_t reserved_ = 0;  // bytes of the file that are known to be there
};

}  // namespace easyretry::storage::sqlite
