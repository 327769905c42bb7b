#pragma once
// The interface between the engine and all stores.
//
// Batch-first: every verb takes many entries and answers for each of them. Every change is a compare-and-set and may be
// sent again after `in_doubt`: a change that was applied is not applied twice. Only the store's clock decides about due
// times and leases, and every reply contains its time. Implementations are safe to call from any thread.
//
// A batch is applied in order, and may name a task twice: the second entry sees what the first one changed. An empty
// batch gets an empty answer.
//
// A store may be spread over several servers, of which one can fail while the others work. Then load, claim, settle and
// renew answer for the others, and report the failure in `trouble`; all other verbs fail.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/cluster.h>
#include <easyretry/stats.h>
#include <easyretry/submit.h>
#include <easyretry/task.h>

#include "base/result.h"
#include "task/record.h"

namespace easyretry::storage {

using easyretry::TaskQuery;
using easyretry::TimeRange;
using task::DueTask;
using task::Ending;
using task::NewTask;
using task::Revision;
using task::Settlement;
using task::TaskRecord;
using task::Ticket;

struct Inserted {
  TaskId id{};
  std::int64_t version = 0;
  TimePoint next_at{};
  bool created = false;  // false: there is a live task with this key; `id` is its id, and it is unchanged
};

struct InsertReply {
  TimePoint now{};
  std::vector<Inserted> tasks;  // one per requested task, in order
};

// Why tasks were not stored, or why it is unknown whether they were.
struct InsertFailure : Error {
  InsertFailure(Error error, std::vector<TaskId> were_to_get = {})  // from any error, like a Result
      : Error(std::move(error)), ids(std::move(were_to_get)) {}

  // With `in_doubt`, in the order of the tasks: the id that each of them has if it was stored, or will be. No other
  // task gets this id, so a caller that finds it knows that its own task was stored. 0: the task was certainly not
  // stored, or there is a live one with its key. Empty: the ids are unknown.
  std::vector<TaskId> ids;
};

using InsertResult = tl::expected<InsertReply, InsertFailure>;

// Where a scan of one shard continues: after (place, id). Only the store knows what a place means.
struct ShardCursor {
  ShardId shard{};
  TimePoint place = TimePoint::min();
  TaskId id{};
};

struct LoadQuery {
  std::string_view name_space;
  std::span<const ShardCursor> from;
  // next_at <= the store's now + ahead. Negative: only tasks that are overdue by that much. Millis::max(): all tasks.
  Millis ahead{0};
  // Tasks per shard, on average: never more than limit × shards in all, but a store may divide them among the shards as
  // it likes. 0 loads nothing, and leaves `more` empty.
  std::size_t limit = 1000;
  std::span<const std::string> handlers{};  // LoadReply::inbox is about calls of these
};

// The suspicion of a DueTask. Above 255 crashes, more crashes make no difference.
inline std::uint8_t suspicion_byte(std::int64_t suspicion) {
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(suspicion, 0, 255));
}

struct LoadReply {
  TimePoint now{};
  std::vector<DueTask> tasks;         // claimable now or when due; those of a shard ordered by (due, id)
  std::vector<std::string> handlers;  // names, each once
  std::vector<ShardCursor> more;      // shards that may have more, and where their scans continue
  bool inbox = false;                 // the inbox has calls of the requested handlers; false if there is no inbox
  std::optional<Error> trouble{};     // a part of the store does not answer: its tasks are missing here
};

struct ClaimRequest {
  std::span<const Ticket> tickets;
  std::string_view owner;
  Millis lease{0};
  // True: each task begins as soon as it is claimed. False: some may wait for a worker first.
  bool begin = true;
};

struct ClaimReply {
  TimePoint now{};
  std::vector<TaskRecord> won;  // in any order; a missing task has ended, is held by a worker, or is not due
  // A part of the store does not answer. None of its tasks was won, except perhaps those of the tickets in doubt.
  std::optional<Error> trouble{};
  std::vector<Ticket> in_doubt{};
};

struct Renewal {
  Ticket ticket;
  Millis lease{0};                        // the lease will end this long after the store's now
  std::optional<std::string> progress{};  // stored with the task; nullopt: unchanged
};

// One answer per ticket: true means applied; false means that the task has moved on and nothing was changed.
struct Applied {
  TimePoint now{};
  std::vector<bool> applied;
  // From settle() and renew() with more than one ticket, if a part of the store does not answer: the positions of its
  // tickets, ascending. `applied` is false for them, but it is unknown whether they were applied.
  std::optional<Error> trouble{};
  std::vector<std::size_t> unanswered{};
};

// How much of an acknowledged write a power cut may lose.
enum class Promise {
  kept,      // none: the commit waits for the disk, as the server is configured
  unneeded,  // what was written in the last moments. For writes that no instance relies on
};

// A heartbeat of an instance that works on a namespace.
struct Beat {
  std::string_view name_space;
  std::string_view node;                               // unique per start of an instance
  Millis ttl{};                                        // without another beat it counts as dead after this time
  std::string_view says{};                             // about itself, for display
  std::optional<std::vector<std::string>> handlers{};  // as in Member
  Promise promise = Promise::unneeded;
};

struct BeatReply {
  TimePoint now{};
  std::vector<Member> members;  // of the namespace, those that are alive by the store's clock; ascending node
};

struct PausedReply {
  TimePoint now{};
  std::vector<PausedHandler> handlers;  // of the namespace; ascending name
};

// One step of the housekeeping of tables.
struct KeepStep {
  enum class Kind {
    made,             // in advance
    emptied,          // `rows` unfinished tasks were moved out of a table that is about to be dropped
    dropped,          // a table of tasks
    history_dropped,  // an old month of history
  };
  Kind kind = Kind::made;
  std::string table{};
  std::int64_t rows = 0;
};

struct KeepReport {
  std::vector<KeepStep> steps{};  // done by this call, in order
  bool more = false;              // there is more to do: call again
};

// How long the ended tasks of a handler are kept, if that is shorter than the store keeps all of them. 0: not at all.
struct Retention {
  std::string name_space;
  std::string handler;
  std::optional<Millis> keep{};
  std::optional<Millis> keep_args{};  // the arguments alone; the rest of the record stays
  friend bool operator==(const Retention&, const Retention&) = default;
};

struct TableInfo {
  enum class State {
    in_use,
    ahead,    // its period has not begun
    leaving,  // will be emptied and dropped
    history,
    other,  // neither tasks nor history
  };
  std::string name;
  State state = State::other;
  std::optional<TimePoint> begins{};  // the beginning of its period, if it has one
  std::int64_t rows = 0;              // the server's estimate: no rows are counted
  std::int64_t bytes = 0;             // including indexes
};

// Counts over time as a daemon saves them. A part is overwritten by the next one of its number.
struct SeriesPart {
  std::int64_t number = 0;
  std::string text{};
  friend bool operator==(const SeriesPart&, const SeriesPart&) = default;
};

struct SplitMove {
  std::string from;
  std::string to;
  std::int64_t rows = 0;  // moved so far; in a plan, the server's estimate
};

struct SplitRequest {
  int tables = 0;  // the new n of hash(n)
  bool only_plan = false;
  std::function<void(const SplitMove&)> progress = [](const SplitMove&) {};
  std::stop_token stop{};  // interrupts it between two transactions; the answer is then `unavailable`
};

struct Durability {
  std::string words;             // what an acknowledged write survives, for display
  bool worth_a_warning = false;  // less than users expect of a server: a crash of its process may lose tasks
};

struct StoreInfo {
  std::string url;  // without secrets
  int total_shards = 64;
  std::vector<int> earlier_shards{};  // smaller numbers it had before; ascending. Old tasks are in those shards
  Durability durability;
  bool shared = false;            // other processes may store tasks in it
  bool inbox = false;             // supports take_in()
  bool folds = false;             // fold_counts() has to be called every few seconds
  bool indexes_handlers = false;  // lists by handler, state or outcome need no search (task_walk.h)
  // Reads may return data that is not durable yet, because it is still on its way to the disk or to replicas. Once a
  // renewal that was sent after the read is answered, applied or not, the data is as durable as an acknowledged insert.
  bool reads_run_ahead = false;
  std::string missing{};   // features of the server that cannot be used here, and what is done instead, for display
  bool is_daemon = false;  // it decides how long tasks are kept, and returns tasks without their arguments
};

// Whether a record meets every condition of the query. The caller does the paging, and the choice of live or finished
// tasks.
bool matches(const TaskRecord& record, const TaskQuery& query);

// `store redis://cache:6379/0: an acknowledged task survives …`, for display.
std::string to_string(const StoreInfo& info);

struct ListPage {
  std::vector<TaskRecord> records{};  // in the order of the query
  std::optional<TaskId> next{};       // there may be more after this place; nullopt: the end was reached
  std::int64_t scanned = 0;           // about how many tasks were looked at
};

// A call that plain SQL put into retry_inbox, before it becomes a task: docs/plain-sql.md.
struct InboxRow {
  std::int64_t id = 0;
  std::string handler;
  std::string payload;
  std::string key;
  std::string business_type;
  std::string business_id;
  std::string traceparent;
  std::optional<TimePoint> due_at;  // nullopt: at once
};

struct IntakeQuery {
  std::string_view name_space;
  std::span<const std::string> handlers;  // rows of other handlers are left to instances that have those
  std::size_t limit = 1000;
};

// Returns the task that a row becomes, or why it cannot become one.
using Convert = std::function<tl::expected<NewTask, std::string>(InboxRow row)>;

struct IntakeReply {
  TimePoint now{};
  std::vector<NewTask> tasks{};
  std::vector<Inserted> inserted{};    // one per task, in order
  std::vector<std::string> refused{};  // why rows could not become tasks
  bool more = false;
};

// Ends when it is destroyed. After that, its callback is not called any more.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

class Store {
 public:
  virtual ~Store() = default;

  virtual StoreInfo info() const = 0;

  // All or nothing. `invalid_argument` names a field that is empty (namespace, key or handler); `already_exists` names
  // the live task that has the key of a task with OnDuplicate::reject. In both cases none of the batch is stored.
  virtual InsertResult insert(std::span<const NewTask> tasks) = 0;
  // The same as part of the caller's own transaction: the tasks are stored when it commits. `invalid_argument` if the
  // store cannot join the connection, or no transaction has begun on it.
  virtual Result<InsertReply> insert_within(const Transaction& transaction, std::span<const NewTask> tasks);
  // Changes nothing. Skips tasks that a live lease holds.
  virtual Result<LoadReply> load(const LoadQuery& query) = 0;
  virtual Result<ClaimReply> claim(const ClaimRequest& request) = 0;
  virtual Result<Applied> settle(std::span<const Settlement> settlements) = 0;
  // A lease that has expired is renewed too, if no other instance has claimed the task.
  virtual Result<Applied> renew(std::span<const Renewal> renewals) = 0;

  // Returns live and finished tasks, each once, in any order; finished ones with their results, if those are kept.
  // Leaves out unknown ids. Only find() reads the last attempts of a task; claims and lists do not.
  virtual Result<std::vector<TaskRecord>> find(std::span<const TaskId> ids) = 0;
  // One page. Neither list() nor count() checks the conditions of needs_walk() (task_walk.h).
  virtual Result<std::vector<TaskRecord>> list(const TaskQuery& query) = 0;
  virtual Result<std::int64_t> count(const TaskQuery& query) = 0;  // ignores `order`, `after`, `limit`
  // For task_walk.h: looks at the next `limit` tasks, or a multiple of that, whatever the conditions. Returns all of
  // them that match, and perhaps others.
  virtual Result<ListPage> scan(const TaskQuery& query);
  // The counts of a namespace at one moment. Each task is counted once when it is stored and once when it ends through
  // this interface, in the same transaction, whatever history keeps and wherever rows are moved.
  virtual Result<Counts> counts(std::string_view name_space) = 0;

  // Gives pending tasks a new due time, or new rules. Does not change a task that has ended or that a worker holds,
  // even if its lease has expired. Tickets from before the change are invalid afterwards.
  virtual Result<Applied> revise(std::span<const Revision> revisions) = 0;
  // Ends live tasks at a user's request, even if a worker holds them: its ticket becomes invalid.
  virtual Result<Applied> end(std::span<const Ending> endings) = 0;
  // Starts an ended task again, as a new generation with a new id, and marks the ended record with that id: both or
  // neither. nullopt: there is no such task, its arguments were removed, its key is live, or it is marked already, so
  // repeating this starts nothing twice. Only the newest generation can be requeued. The new task is
  // of the class `as`, or of the class of the ended one.
  virtual Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids,
                                                             std::optional<TaskClass> as = std::nullopt) = 0;
  // The same with other arguments, in the form in which they are stored: of the task's payload version. Also for a task
  // whose arguments were removed.
  virtual Result<std::optional<TaskId>> requeue_with(TaskId id, std::string_view arguments,
                                                     std::optional<TaskClass> as = std::nullopt) = 0;
  // Turns rows of the inbox into tasks, each once, in one transaction. A row that cannot become a task stays in the
  // inbox with the reason, and is ignored until the reason is removed. `invalid_argument` if there is no inbox.
  virtual Result<IntakeReply> take_in(const IntakeQuery& query, const Convert& convert);
  // `invalid_argument` if only one instance can use this store.
  virtual Result<BeatReply> beat(const Beat& beat);
  // The same reply as beat(), without a heartbeat.
  virtual Result<BeatReply> members(std::string_view name_space);
  // This instance is leaving. True: it was a member.
  virtual Result<bool> leave(std::string_view name_space, std::string_view node);
  // From now on no instance should claim tasks of this handler in the namespace. Instances must ensure that themselves:
  // load() and claim() still return such tasks. True: it was not paused before. A handler that is already paused keeps
  // its time and reason. `invalid_argument`: checks.h refuses the name or the reason, or too many handlers are
  // paused.
  virtual Result<bool> pause(std::string_view name_space, std::string_view handler, std::string_view why) = 0;
  // True: it was paused.
  virtual Result<bool> resume(std::string_view name_space, std::string_view handler) = 0;
  virtual Result<PausedReply> paused(std::string_view name_space) = 0;
  // Housekeeping: tables, old history, results that were kept long enough. Any instance may run it at any time, several
  // at once.
  virtual Result<KeepReport> keep() = 0;
  // Removes ended tasks, or only their arguments, whose time under these rules is over: a limited number per call.
  // Returns whether there are more. A task that has just ended may stay until it is half a minute old. Quarantined and
  // parked tasks are left alone. Counts do not change.
  virtual Result<bool> expire(std::span<const Retention> rules) = 0;
  // Adds up a limited number of the counts that transactions have left behind, and returns whether there are more. Any
  // instance may run it, like keep(). counts() includes those that have not been added up yet.
  virtual Result<bool> fold_counts() { return false; }
  // True: the part is saved, though a power cut may lose it. False: this store does not outlive its process.
  virtual Result<bool> save_series(std::string_view name_space, const SeriesPart& part);
  virtual Result<std::vector<SeriesPart>> saved_series(std::string_view name_space);  // by number
  // The tables of a database server, by name. `invalid_argument` for other stores.
  virtual Result<std::vector<TableInfo>> tables();
  // Adds tables to hash(n) while instances work, this one included. If it was interrupted, run it again. Returns the
  // moves that were necessary; none if there are already as many tables. `invalid_argument` if that is impossible.
  virtual Result<std::vector<SplitMove>> split(const SplitRequest& request);

  // Tells other processes that this namespace has tasks that are due soon and that perhaps no instance has loaded. This
  // is a hint, and the call does not block: if the hint is lost, these tasks wait until the next load(). The default
  // does nothing.
  virtual void announce(const std::string& name_space);
  // Calls `wake`, which must be quick, from a thread of the store: when another process has announced something, when a
  // transaction that this process joined has committed, and once whenever announcements may have been missed. Null:
  // this store has no announcements.
  virtual std::unique_ptr<Subscription> listen(const std::string& name_space, std::function<void()> wake);
};

}  // namespace easyretry::storage
