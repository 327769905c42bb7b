#pragma once

#include <filesystem>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "storage/sqlite/connection.h"
#include "storage/sqlite/id_list.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// The records that a claim has won, read after its commit and on a connection of their own: the writer serves others
// meanwhile. Safe to call from any thread.
class ClaimedRows {
 public:
  explicit ClaimedRows(const std::filesystem::path& path);

  // Each ticket once. Left out is what is not any more as the claim left it: cancelled in between, it is nobody's to
  // run.
  std::vector<TaskRecord> read(std::span<const Ticket> won, std::string_view owner);

 private:
  std::mutex mutex_;  // guards what follows
  Connection db_;
  Statement records_;
  std::vector<TaskId> ids_;
};

}  // namespace easyretry::storage::sqlite
