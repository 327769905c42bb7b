#include "storage/sql/inserts.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/random.h"
#include "storage/checks.h"
#include "storage/reshard.h"
#include "storage/retention.h"
#include "task/task_key.h"
#include "task/transitions.h"

namespace easyretry::storage::sql {
namespace {

// If an id is taken, another one is drawn. If that happens so often in a row, something else is wrong.
constexpr int kDraws = 20;

using Key = std::pair<std::string_view, std::string_view>;

}  // namespace

Inserts::Inserts(std::string kind, int total_shards)
    : kind_(std::move(kind)), total_shards_(total_shards), ids_(base::random_seed()) {}

TaskId Inserts::draw(const TaskInfo& info, TimePoint now) {
  const ShardId shard = task::shard_for(info.business_id, info.key, total_shards_);
  const std::lock_guard lock{mutex_};
  if (refusal_) throw Refusal{{Errc::unavailable, kind_ + ".insert", *refusal_}};
  const TaskId id = ids_.next(now, shard);
  if (task::created_at(id) - std::max(now, task::created_at(TaskId{})) < task::kMostAhead) return id;
  // The server's clock was set back. If ids went on from the old time, a search by creation time would not find their
  // tasks. If an id is taken, another one is drawn.
  ids_ = task::TaskIdSource{base::random_seed()};
  return ids_.next(now, shard);
}

void Inserts::allow_unless(std::optional<std::string> refusal) {
  const std::lock_guard lock{mutex_};
  refusal_ = std::move(refusal);
}

// The tasks of one batch: already stored, found as existing, or to be tried again under another id.
class Inserts::Batch {
 public:
  Batch(Inserts& inserts, LiveRows& live, std::span<const NewTask* const> tasks, TimePoint now)
      : inserts_(inserts), live_(live), tasks_(tasks), now_(now), answers_(tasks.size()) {
    rows_.reserve(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      rows_.push_back(task::new_record(*tasks[i], {}, now));
      rows_.back().info.id = inserts_.draw(rows_.back().info, now);
      open_.push_back(i);
    }
  }

  std::vector<Inserted> run(const std::string& history) {
    for (int draws = 0; !open_.empty(); ++draws) {
      if (draws == kDraws) throw ServerError{Trouble::again, "every new id is refused as taken"};
      store(live_.insert(history, rows_));
      if (!open_.empty()) match(live_.with_keys_of(rows_));
    }
    live_.update_rules(updated_);
    return std::move(answers_);
  }

 private:
  void store(const std::vector<TaskId>& stored) {
    const std::unordered_set<TaskId> ids{stored.begin(), stored.end()};
    keep_open([&](std::size_t task, const TaskRecord& row) {
      if (!ids.contains(row.info.id)) return true;
      answers_[task] = {row.info.id, row.info.version, row.info.next_at, true};
      return false;
    });
  }

  void match(const std::vector<LiveKey>& live) {
    std::map<Key, const Inserted*> there;
    for (const LiveKey& key : live) there.emplace(Key{key.name_space, key.key}, &key.task);
    keep_open([&](std::size_t task, TaskRecord& row) {
      const auto met = there.find({row.info.name_space, row.info.key});
      if (met == there.end()) {
        row.info.id = inserts_.draw(row.info, now_);
        return true;
      }
      answers_[task] = *met->second;
      apply_on_duplicate(*tasks_[task], *met->second);
      return false;
    });
  }

  void apply_on_duplicate(const NewTask& task, const Inserted& there) {
    if (task.on_duplicate == OnDuplicate::reject) {
      throw Refusal{duplicate(inserts_.kind_ + ".insert", task.key, there.id)};
    }
    if (task.on_duplicate != OnDuplicate::update_policy) return;
    for (NewRules& update : updated_) {
      if (update.ticket.id == there.id) return void(update.rules = task.rules);
    }
    updated_.push_back({{there.id, there.version}, task.rules});
  }

  template <class Stays>
  void keep_open(Stays stays) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (!stays(open_[i], rows_[i])) continue;
      if (kept != i) {
        open_[kept] = open_[i];
        rows_[kept] = std::move(rows_[i]);
      }
      ++kept;
    }
    open_.resize(kept);
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(kept), rows_.end());
  }

  Inserts& inserts_;
  LiveRows& live_;
  const std::span<const NewTask* const> tasks_;
  const TimePoint now_;
  std::vector<Inserted> answers_;
  // Tasks without an answer: positions in tasks_, and the row of each
  std::vector<std::size_t> open_;
  std::vector<TaskRecord> rows_;
  std::vector<NewRules> updated_;  // OnDuplicate::update_policy: the last one counts
};

std::vector<Inserted> Inserts::insert(LiveRows& rows, const std::string& history, std::span<const NewTask* const> tasks,
                                      TimePoint now) {
  return Batch{*this, rows, tasks, now}.run(history);
}

std::optional<TaskId> Inserts::start_again(LiveRows& rows, const std::string& history, const TaskRecord& finished,
                                           TimePoint now) {
  for (int draws = 0; draws < kDraws; ++draws) {
    const TaskRecord row = task::next_generation(finished, draw(finished.info, now), now);
    if (!rows.insert(history, {&row, 1}).empty()) return row.info.id;
    if (!rows.with_keys_of({&row, 1}).empty()) return std::nullopt;
  }
  throw ServerError{Trouble::again, "every new id is refused as taken"};
}

void ShardWatch::look(Session& session) {
  if (Steady::now() - looked_.load() >= options_.look_at_shards_every) observe(session.schema().meta("total_shards"));
}

std::optional<std::string> ShardWatch::observe(const std::optional<std::string>& total_shards) {
  auto why = total_shards ? shard_refusal(parse_shard_count(*total_shards), options_.total_shards) : std::nullopt;
  inserts_.allow_unless(why);
  if (!why) looked_ = Steady::now();
  return why;
}

InsertResult InsertTransactions::run(std::span<const NewTask* const> tasks, Locks locks) {
  InsertReply reply;
  auto done = writes_.run(where_, Promise::kept, locks, [&](Session& session, TimePoint now) {
    reply = inside(session, tasks, now);
    return true;
  });
  if (!done) return tl::make_unexpected(failure(std::move(done.error()), reply));
  return reply;
}

InsertReply InsertTransactions::inside(Session& session, std::span<const NewTask* const> tasks, TimePoint now) {
  shards_.look(session);
  const std::string history = history_ == History::none ? std::string{} : history_for(tables_, now);
  LiveRows rows{session, tables_, now};
  return {now, inserts_.insert(rows, history, tasks, now)};
}

// Locks rows before it reads them: if two requeue the same task, the second sees the mark of the first. All go through
// the months, and through the rows of a month, in the same order.
std::map<TaskId, Requeues::Ended> Requeues::lock(std::span<const TaskId> ids) {
  std::set<TaskId> wanted{ids.begin(), ids.end()};
  std::map<TaskId, Ended> ended;
  for (const std::string& table : tables_.histories(session_)) {
    if (wanted.empty()) break;
    const std::vector<TaskId> sorted{wanted.begin(), wanted.end()};
    for (TaskRecord& record : session_.lock_history(table, sorted)) {
      const TaskId id = record.info.id;
      wanted.erase(id);
      ended.emplace(id, Ended{std::move(record), table});
    }
  }
  return ended;
}

std::vector<std::optional<TaskId>> Requeues::start_again(std::span<const TaskId> ids,
                                                         std::optional<std::string_view> arguments,
                                                         std::optional<TaskClass> as) {
  std::vector<std::optional<TaskId>> started(ids.size());
  if (ids.empty()) return started;
  std::map<TaskId, Ended> ended = lock(ids);
  LiveRows rows{session_, tables_, now_};
  const std::string history = history_for(tables_, now_);
  std::map<std::string, std::vector<Requeued>> marks;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto found = ended.find(ids[i]);
    if (found == ended.end()) continue;
    auto& [record, table] = found->second;
    if (arguments) record.payload = *arguments;
    if (as) record.info.task_class = *as;
    if (record.info.requeued_as || lacks_arguments(record)) continue;
    started[i] = inserts_.start_again(rows, history, record, now_);
    if (!started[i]) continue;
    record.info.requeued_as = started[i];
    marks[table].push_back({ids[i], *started[i]});
  }
  for (auto& [table, requeued] : marks) {
    std::sort(requeued.begin(), requeued.end(), [](const Requeued& a, const Requeued& b) { return a.id < b.id; });
    session_.mark_requeued(table, requeued);
  }
  return started;
}

}  // namespace easyretry::storage::sql
