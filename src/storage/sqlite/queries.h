#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// `find`, `list`, `count` and `counts`, on connections of their own: a long search delays neither writes nor `load`.
// Safe to call from any thread.
class Queries {
 public:
  explicit Queries(const std::filesystem::path& path);
  std::vector<TaskRecord> find(std::span<const TaskId> ids);
  std::vector<TaskRecord> list(const TaskQuery& query);
  std::int64_t count(const TaskQuery& query);
  Counts counts(std::string_view space);
  std::vector<PausedHandler> paused(std::string_view space);

 private:
  struct Reader {
    explicit Reader(const std::filesystem::path& path);
    std::mutex mutex;
    Connection db;
  };

  template <class Body>
  auto with_reader(Body body);

  std::array<Reader, 2> readers_;  // a second one, so that a quick look need not wait for a long search
};

}  // namespace easyretry::storage::sqlite
