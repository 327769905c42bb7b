#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "storage/sqlite/id_list.h"
#include "storage/sqlite/reader.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// The records that a claim has won, read after its commit and on a connection of their own: the writer serves others
// meanwhile. Safe to call from any thread.
class ClaimedRows {
 public:
  ClaimedRows(const std::filesystem::path& path, const Trust& trust) : reader_(trust, path) {}

  // Each ticket once. Left out is what is not any more as the claim left it: cancelled in between, it is nobody's to
  // run.
  std::vector<TaskRecord> read(std::span<const Ticket> won, std::string_view owner);
  void close() { reader_.close(); }  // until the next read

 private:
  struct Prepared {
    explicit Prepared(const std::filesystem::path& path);
    Connection db;
    Statement records;
    std::vector<TaskId> ids{};
  };

  Reader<Prepared> reader_;
};

}  // namespace easyretry::storage::sqlite
