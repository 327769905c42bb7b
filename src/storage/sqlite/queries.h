#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "storage/sqlite/loader.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// `find`, `list`, `count`, `counts` and `paused`, on their own connections: a long search delays neither writes nor
// `load`. Safe to call from any thread.
class Queries {
 public:
  Queries(const std::filesystem::path& path, const Trust& trust)
      : readers_{OneReader{trust, path}, OneReader{trust, path}} {}
  std::vector<TaskRecord> find(std::span<const TaskId> ids);
  std::vector<TaskRecord> list(const TaskQuery& query);
  std::int64_t count(const TaskQuery& query);
  Counts counts(std::string_view space);
  std::vector<PausedHandler> paused(std::string_view space);  // ascending name
  void close();                                               // until the next query

 private:
  struct Prepared {
    explicit Prepared(const std::filesystem::path& path);
    Connection db;
  };
  using OneReader = Reader<Prepared>;

  template <class Body>
  auto with_reader(Body body);

  std::array<OneReader, 2> readers_;  // the second one, so that a short query need not wait for a long search
};

}  // namespace easyretry::storage::sqlite
