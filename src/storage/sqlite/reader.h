#pragma once
// A connection that only reads, and what is prepared on it. It is closed while the file is not trusted, and whoever
// reads next opens it again. Safe to use from any thread, by one at a time.

#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "storage/sqlite/connection.h"
#include "storage/sqlite/trust.h"

namespace easyretry::storage::sqlite {

template <class Prepared>  // made of the path of the file
class Reader {
 public:
  Reader(const Trust& trust, std::filesystem::path path) : trust_(trust), path_(std::move(path)), open_(path_) {}

  // Throws SqliteError where the file is not trusted, also if that is known only at the end.
  template <class Body>
  auto read(Body body) {
    return read(std::unique_lock{mutex_}, body);
  }
  template <class Body>
  auto read([[maybe_unused]] std::unique_lock<std::mutex> held, Body body) {
    trust_.check();
    if (!open_) open_.emplace(path_);
    auto answer = body(*open_);
    trust_.check();
    return answer;
  }
  std::unique_lock<std::mutex> try_lock() { return std::unique_lock{mutex_, std::try_to_lock}; }
  std::unique_lock<std::mutex> lock() { return std::unique_lock{mutex_}; }

  void close() {
    const std::lock_guard lock{mutex_};
    open_.reset();
  }

 private:
  const Trust& trust_;
  const std::filesystem::path path_;
  std::mutex mutex_;  // guards what follows
  std::optional<Prepared> open_;
};

}  // namespace easyretry::storage::sqlite
