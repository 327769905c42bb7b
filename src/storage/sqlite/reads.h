#pragma once
// All reads of a store, each kind on its own connection: due tasks, claimed records, and searches.

#include <array>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/sqlite/connection.h"
#include "storage/sqlite/wal.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// A connection that only reads, and the statements prepared on it. It is closed while the file is not trusted, and the
// next read opens it again. Safe to use from any thread, by one at a time.
template <class Prepared>  // made from the path of the file
class Reader {
 public:
  Reader(const Trust& trust, std::filesystem::path path) : trust_(trust), path_(std::move(path)), open_(path_) {}

  // Throws SqliteError if the file is not trusted, even if that becomes known only at the end.
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
  std::mutex mutex_;  // guards everything below
  std::optional<Prepared> open_;
};

// `load`, on its own connection so that no search delays it. Safe to call from any thread.
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
    PreparedStatement same_time;
    PreparedStatement later;
  };

  const Clock& clock_;
  Reader<Prepared> reader_;
};

// The records that a claim has won, read after its commit and on their own connection: the writer serves others
// meanwhile. Safe to call from any thread.
class ClaimedRows {
 public:
  ClaimedRows(const std::filesystem::path& path, const Trust& trust) : reader_(trust, path) {}

  // Each ticket once. Leaves out tasks that are no longer as the claim left them: one that was cancelled in between
  // must not run.
  std::vector<TaskRecord> read(std::span<const Ticket> won, std::string_view owner);
  void close() { reader_.close(); }  // until the next read

 private:
  struct Prepared {
    explicit Prepared(const std::filesystem::path& path);
    Connection db;
    PreparedStatement records;
    std::vector<TaskId> ids{};
  };

  Reader<Prepared> reader_;
};

// `find`, `list`, `count`, `counts` and `paused`, on their own connections: a long search delays neither writes nor
// `load`. Safe to call from any thread.
class Queries {
 public:
  Queries(const std::filesystem::path& path, const Trust& trust)
      : readers_{OneReader{trust, path}, OneReader{trust, path}} {}
  std::vector<TaskRecord> find(std::span<const TaskId> ids);
  std::vector<TaskRecord> list(const TaskQuery& query);
  std::int64_t count(const TaskQuery& query);
  Counts counts(std::string_view name_space);
  std::vector<SeriesPart> saved_series(std::string_view name_space);
  std::vector<PausedHandler> paused(std::string_view name_space);  // ascending name
  void close();                                                    // until the next query

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
