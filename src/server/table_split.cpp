#include "server/table_split.h"

#include <pthread.h>

#include "base/time_text.h"
#include "call/errors.h"
#include "server/refusal.h"

namespace easyretry::server {
namespace {

using storage::SplitMove;

std::string layout_of(int tables) {
  return "hash(" + std::to_string(tables) + ")";
}

}  // namespace

std::string name_of(TableSplit::State state) {
  switch (state) {
    case TableSplit::State::running: return "running";
    case TableSplit::State::done: return "done";
    case TableSplit::State::stopped: return "stopped";
    case TableSplit::State::failed: return "failed";
  }
  return "unknown";
}

TableSplit::TableSplit(std::shared_ptr<storage::Store> store, const Clock& clock, LogSink log)
    : store_(std::move(store)), clock_(clock), log_(std::move(log)) {}

TableSplit::~TableSplit() {
  close();
}

std::vector<SplitMove> TableSplit::plan(int tables) const {
  return call::value_or_throw(store_->split({.tables = tables, .only_plan = true}));
}

TableSplit::Progress TableSplit::begin(int tables) {
  const std::lock_guard one_at_a_time{beginning_};
  require_idle();
  const std::vector<SplitMove> moves = plan(tables);
  Progress progress{.tables = tables, .to_fill = moves.size(), .asked_at = clock_.now()};
  for (const SplitMove& move : moves) progress.expected += move.rows;
  {
    const std::lock_guard lock{mutex_};
    last_ = progress;
    moved_.clear();
  }
  thread_ = std::jthread{[this, tables](const std::stop_token& stop) { run(tables, stop); }};
  return progress;
}

void TableSplit::require_idle() const {
  const std::lock_guard lock{mutex_};
  if (closed_) throw Refusal{{503, "busy", "this instance is stopping", "ask another one"}};
  if (!last_ || last_->state != State::running) return;
  throw Refusal{{409, "split_running",
                 "a split into " + layout_of(last_->tables) + " has been running here since " +
                     base::to_text(last_->asked_at) + ", and only one can run at a time",
                 "wait until it is done: GET /v1/split"}};
}

std::optional<TableSplit::Progress> TableSplit::last() const {
  const std::lock_guard lock{mutex_};
  return last_;
}

void TableSplit::close() {
  const std::lock_guard one_at_a_time{beginning_};
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  thread_ = {};
}

void TableSplit::run(int tables, const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "er-split");
  if (log_) log_(LogLevel::info, "the tables are being split into " + layout_of(tables));
  const auto moves =
      store_->split({.tables = tables, .progress = [this](const SplitMove& move) { tell(move); }, .stop = stop});
  if (moves) return end(State::done, {});
  end(stop.stop_requested() ? State::stopped : State::failed, to_string(moves.error()));
}

void TableSplit::tell(const SplitMove& move) {
  const std::lock_guard lock{mutex_};
  std::int64_t& into_table = moved_[move.to];
  last_->moved += move.rows - into_table;
  last_->begun = moved_.size();
  into_table = move.rows;
}

void TableSplit::end(State state, const std::string& error) {
  const std::lock_guard lock{mutex_};
  last_->state = state;
  last_->error = error;
  last_->ended_at = clock_.now();
  if (!log_) return;
  const std::string what = "the split of the tables into " + layout_of(last_->tables) + " ";
  if (state == State::done) {
    log_(LogLevel::warning, what + "is done; set layout=" + layout_of(last_->tables) +
                                " in the urls of the instances before you start them again");
  } else {
    log_(LogLevel::error, what + name_of(state) + "; start it again to continue: " + error);
  }
}

}  // namespace easyretry::server
