#pragma once
// Splits the store into more tables, in the background, one split at a time. A split that is interrupted by a crash or
// a stop has moved some of the tasks; started again, on any instance, it continues with the others. Thread-safe.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <easyretry/options.h>

#include "storage/store.h"

namespace easyretry::server {

class TableSplit {
 public:
  enum class State { running, done, stopped, failed };
  struct Progress {
    int tables = 0;  // target number
    State state = State::running;
    std::size_t to_fill = 0;    // tables that receive tasks
    std::size_t begun = 0;      // of them
    std::int64_t expected = 0;  // tasks to move, estimated by the server
    std::int64_t moved = 0;
    std::string error{};  // why it failed
    TimePoint asked_at{};
    std::optional<TimePoint> ended_at{};
  };

  TableSplit(std::shared_ptr<storage::Store> store, const Clock& clock, LogSink log);
  ~TableSplit();  // close()
  TableSplit(const TableSplit&) = delete;
  TableSplit& operator=(const TableSplit&) = delete;

  // The necessary moves. Throws StoreError, with `invalid_argument` if the store cannot be split like this.
  std::vector<storage::SplitMove> plan(int tables) const;
  // Throws Refusal while a split is running; otherwise throws like plan().
  Progress begin(int tables);
  // The latest split; nullopt if there was none.
  std::optional<Progress> last() const;
  // Stops a running split after its transaction, and refuses new ones.
  void close();

 private:
  void require_idle() const;
  void run(int tables, const std::stop_token& stop);
  void tell(const storage::SplitMove& move);
  void end(State state, const std::string& error);

  const std::shared_ptr<storage::Store> store_;
  const Clock& clock_;
  const LogSink log_;
  std::mutex beginning_;  // one begin() at a time, or close()
  mutable std::mutex mutex_;
  // Guarded by mutex_
  std::optional<Progress> last_;
  std::map<std::string, std::int64_t> moved_;  // into each table
  bool closed_ = false;

  std::jthread thread_;
};

std::string name_of(TableSplit::State state);

}  // namespace easyretry::server
