#pragma once

#include <filesystem>
#include <mutex>

#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// A connection that only reads, and never checkpoints: that is the writer's alone.
Connection open_reader(const std::filesystem::path& path, int cache_kib);

// `load`, on a connection of its own so that no search delays it. Safe to call from any thread.
class Loader {
 public:
  Loader(const std::filesystem::path& path, const Clock& clock);
  LoadReply load(const LoadQuery& query);

 private:
  class Scan;

  const Clock& clock_;
  std::mutex mutex_;  // guards what follows
  Connection db_;
  Statement same_time_;
  Statement later_;
};

}  // namespace easyretry::storage::sqlite
