#pragma once

#include <filesystem>

#include "storage/sqlite/reader.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// A connection that only reads, and never checkpoints: that is the writer's alone.
Connection open_reader(const std::filesystem::path& path, int cache_kib);

// `load`, on a connection of its own so that no search delays it. Safe to call from any thread.
class Loader {
 public:
  Loader(const std::filesystem::path& path, const Trust& trust, const Clock& clock)
      : clock_(clock), reader_(trust, path) {}
  LoadReply load(const LoadQuery& query);
  void close() { reader_.close(); }  // until the next load

 private:
  class Scan;
  struct Prepared {
    explicit Prepared(const std::filesystem::path& path);
    Connection db;
    Statement same_time;
    Statement later;
  };

  const Clock& clock_;
  Reader<Prepared> reader_;
};

}  // namespace easyretry::storage::sqlite
