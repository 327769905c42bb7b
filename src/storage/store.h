#pragma once
// The one seam between the engine and whatever keeps the tasks.
//
// Batch-first: every verb takes many and answers for each. Every change is a compare-and-set and may be sent again
// after `in_doubt`: what was done before is not done twice. Only the store's clock judges due times and leases, and
// every reply carries it. Implementations are safe to call from any thread.
//
// A batch is worked through in order, and an entry may repeat: what the first one changed, the second one meets. An
// empty batch is answered with nothing.
//
// A store may be spread over servers of which one fails while the others work. Then load, claim, settle and renew
// answer for the others, and say so (`trouble`); all other verbs fail.

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
#include <easyretry/counts.h>
#include <easyretry/error.h>
#include <easyretry/paused_handler.h>
#include <easyretry/task_query.h>
#include <easyretry/transaction.h>

#include "storage/durability.h"
#include "storage/inbox.h"
#include "task/record.h"

namespace easyretry::storage {

using easyretry::TaskQuery;
using easyretry::TimeRange;
using task::DueTask;
using task::NewTask;
using task::Revision;
using task::Settlement;
using task::TaskRecord;
using task::Ticket;

struct Inserted {
  TaskId id{};
  std::int64_t version = 0;
  TimePoint next_at{};
  bool created = false;  // false: a live task with this key was there; it is unchanged, and id names it
};

struct InsertReply {
  TimePoint now{};
  std::vector<Inserted> tasks;  // one per task asked for, in order
};

// Why tasks were not stored, or nobody knows whether they were.
struct InsertFailure : Error {
  InsertFailure(Error error, std::vector<TaskId> were_to_get = {})  // from any error, like a Result
      : Error(std::move(error)), ids(std::move(were_to_get)) {}

  // Of `in_doubt`, and then in the order of the tasks: the id that each of them has if it was stored, now or later. No
  // other task has it, so that whoever finds it knows that it is his. 0: it is known not to be stored, or to have met
  // another one. No ids at all: nobody can say.
  std::vector<TaskId> ids;
};

// A Result with more to say.
using InsertResult = tl::expected<InsertReply, InsertFailure>;

// Where a scan of one shard goes on: after (place, id). What a place is is the store's affair.
struct ShardCursor {
  ShardId shard{};
  TimePoint place = TimePoint::min();
  TaskId id{};
};

struct LoadQuery {
  std::string_view space;
  std::span<const ShardCursor> from;
  // next_at <= the store's now + ahead; negative: only what is overdue by that much; Millis::max(): everything.
  Millis ahead{0};
  // Tasks a shard, on average: never more than limit × shards in all, but how they share it is the store's affair.
  // 0 loads nothing, and nothing is left for `more`.
  std::size_t limit = 1000;
  std::span<const std::string> handlers{};  // of whom the inbox may have calls
};

// The suspicion of a DueTask. Above 255 crashes, more crashes make no difference.
inline std::uint8_t suspicion_byte(std::int64_t suspicion) {
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(suspicion, 0, 255));
}

struct LoadReply {
  TimePoint now{};
  std::vector<DueTask> tasks;         // claimable now or when due; those of a shard ordered by (due, id)
  std::vector<std::string> handlers;  // names, each once
  std::vector<ShardCursor> more;      // shards that may have more, and where they go on
  bool inbox = false;                 // has calls of the handlers asked for; false where there is no inbox
  std::optional<Error> trouble{};     // a part of the store does not answer: its tasks are missing here
};

struct ClaimRequest {
  std::span<const Ticket> tickets;
  std::string_view owner;
  Millis lease{0};
  // Each of them begins as soon as it is claimed. False: some may wait for a worker first.
  bool begin = true;
};

struct ClaimReply {
  TimePoint now{};
  std::vector<TaskRecord> won;  // in any order; what is missing is gone, held by someone, or not due
  // A part of the store does not answer: nothing of it was won, but for those tickets of which that is not known.
  std::optional<Error> trouble{};
  std::vector<Ticket> in_doubt{};
};

struct Renewal {
  Ticket ticket;
  Millis lease{0};                        // then ends this long after the store's now
  std::optional<std::string> progress{};  // kept with the task; nullopt: as it was
};

// One answer per ticket: true = applied, false = the task has moved on and nothing was changed.
struct Applied {
  TimePoint now{};
  std::vector<bool> applied;
  // Of settle() and renew(), for more than one ticket: a part of the store does not answer, and the places of its
  // tickets, ascending. They are false above; whether they were applied is not known.
  std::optional<Error> trouble{};
  std::vector<std::size_t> unanswered{};
};

enum class Cancel {
  end,   // to history at once
  tell,  // on_final_failure is run first; not applied where a callback is already due, so sending it again tells once
};

// An instance that works on a namespace says that it lives.
struct Beat {
  std::string_view space;
  std::string_view node;                               // unique per start of an instance
  Millis ttl{};                                        // taken for dead when nothing is heard for so long
  std::string_view says{};                             // of itself, for people
  std::optional<std::vector<std::string>> handlers{};  // as in Member
};

struct BeatReply {
  TimePoint now{};
  std::vector<Member> members;  // of the namespace, all that live by the store's clock; ascending node
};

struct PausedReply {
  TimePoint now{};
  std::vector<PausedHandler> handlers;  // of the namespace; ascending name
};

// Something that was done to a table.
struct KeepStep {
  enum class Kind {
    made,             // ahead of time
    emptied,          // `rows` unfinished tasks were moved out of it: it is about to be dropped
    dropped,          // of tasks
    history_dropped,  // a month, old enough
  };
  Kind kind = Kind::made;
  std::string table{};
  std::int64_t rows = 0;
};

struct KeepReport {
  std::vector<KeepStep> steps{};  // by this call, in order
  bool more = false;              // there is more to do than was done at one go: call again
};

struct TableInfo {
  enum class State {
    in_use,
    ahead,    // its period has not begun
    leaving,  // to be emptied and dropped
    history,
    other,  // neither tasks nor history
  };
  std::string name;
  State state = State::other;
  std::optional<TimePoint> begins{};  // its period, where it has one
  std::int64_t rows = 0;              // as the server estimates: nothing is counted
  std::int64_t bytes = 0;             // with its indexes
};

struct SplitMove {
  std::string from;
  std::string to;
  std::int64_t rows = 0;  // moved by now; of a plan, as the server estimates
};

struct SplitRequest {
  int tables = 0;  // hash(n) is to have
  bool only_plan = false;
  std::function<void(const SplitMove&)> progress = [](const SplitMove&) {};
  std::stop_token stop{};  // breaks it off between two transactions, which is answered with `unavailable`
};

struct StoreInfo {
  std::string url;  // without secrets
  int total_shards = 64;
  Durability durability;
  bool shared = false;  // other processes may store tasks in it
  bool inbox = false;   // take_in() has something to take from
  bool folds = false;   // fold_counts() is to be called every few seconds
  // What is read may not be safe yet: on its way to the disk, or to replicas. When a renewal was answered after the
  // reading, applied or not, it is as safe as an insert that was answered.
  bool reads_run_ahead = false;
};

// `store redis://cache:6379/0: an acknowledged task survives …`, for people.
std::string to_string(const StoreInfo& info);

struct IntakeReply {
  TimePoint now{};
  std::vector<NewTask> tasks{};
  std::vector<Inserted> inserted{};    // of each of the tasks, in order
  std::vector<std::string> refused{};  // why rows could not become tasks
  bool more = false;
};

// Lasts until it is destroyed, and nothing is called any more when that has returned.
class Listening {
 public:
  virtual ~Listening() = default;
};

class Store {
 public:
  virtual ~Store() = default;

  virtual StoreInfo info() const = 0;

  // All or nothing: `invalid_argument` names the empty field (space, key or handler), `already_exists` the live task
  // whose key OnDuplicate::reject asks for, and none of the batch is stored.
  virtual InsertResult insert(std::span<const NewTask> tasks) = 0;
  // The same as part of the caller's own transaction, which decides whether it comes about. `invalid_argument` where
  // the store cannot join it, or it is none.
  virtual Result<InsertReply> insert_within(const Transaction& transaction, std::span<const NewTask> tasks);
  // Changes nothing. Skips what a live lease holds.
  virtual Result<LoadReply> load(const LoadQuery& query) = 0;
  virtual Result<ClaimReply> claim(const ClaimRequest& request) = 0;
  virtual Result<Applied> settle(std::span<const Settlement> settlements) = 0;
  // A lease that ran out is renewed too, if nobody took the task.
  virtual Result<Applied> renew(std::span<const Renewal> renewals) = 0;

  // Live or finished, each once, in any order; unknown ids are left out.
  virtual Result<std::vector<TaskRecord>> find(std::span<const TaskId> ids) = 0;
  virtual Result<std::vector<TaskRecord>> list(const TaskQuery& query) = 0;  // ascending id; see `requeued`
  virtual Result<std::int64_t> count(
      const TaskQuery& query) = 0;  // of all pages: `after` and `limit` are not looked at
  // Of a namespace, as of one moment. Counted are tasks that this seam stored and ended: each once, with the
  // transaction that did it, whatever history keeps of them and wherever their rows are moved.
  virtual Result<Counts> counts(std::string_view space) = 0;

  // A task that waits becomes due at another time, or goes on by other rules. One that is held, though its lease may
  // have run out, or has ended, is left alone. Whoever has read the task before holds a ticket of the past.
  virtual Result<Applied> revise(std::span<const Revision> revisions) = 0;
  virtual Result<Applied> cancel(std::span<const TaskId> ids, Cancel how) = 0;
  // An ended task starts again as a new generation under a new id, with which its record is marked: both or neither.
  // nullopt: none such, its key is live, or it is marked: sent again, nothing starts twice. Its newest generation can.
  virtual Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids) = 0;
  // Turns rows of the inbox into tasks, each once, in one transaction. What cannot become a task stays there with the
  // reason, and is not looked at again before that is taken away. `invalid_argument` where there is no inbox.
  virtual Result<IntakeReply> take_in(const IntakeQuery& query, const Convert& convert);
  // `invalid_argument` where instances cannot meet in this store.
  virtual Result<BeatReply> beat(const Beat& beat);
  // As a beat gives them, without one.
  virtual Result<BeatReply> members(std::string_view space);
  // This instance is gone. True: it was there.
  virtual Result<bool> leave(std::string_view space, std::string_view node);
  // From now on nobody should claim tasks of this handler of the namespace; that is for whoever claims to see to, and
  // the store gives them all the same. True: it was not paused; one that is keeps its time and its reason.
  // `invalid_argument`: a name or a reason that pause_checks.h refuses, or too many handlers are paused.
  virtual Result<bool> pause(std::string_view space, std::string_view handler, std::string_view why) = 0;
  // True: it was paused.
  virtual Result<bool> resume(std::string_view space, std::string_view handler) = 0;
  virtual Result<PausedReply> paused(std::string_view space) = 0;
  // Housekeeping that may run anywhere, any time, on several instances at once.
  virtual Result<KeepReport> keep() = 0;
  // Adds up what transactions have left behind to be counted, some at one go; like keep(), anywhere and at once. Gives
  // whether there is more. What is not yet added up is counted all the same.
  virtual Result<bool> fold_counts() { return false; }
  // What a database server keeps it all in, by name. `invalid_argument` where there are no tables to speak of.
  virtual Result<std::vector<TableInfo>> tables();
  // Makes more tables of hash(n), while instances work, this one too; again after it was cut off. Gives the moves that
  // were to be made, none where there are so many tables already. `invalid_argument` where this is not possible.
  virtual Result<std::vector<SplitMove>> split(const SplitRequest& request);

  // Tells other processes that tasks of this namespace are due soon and nobody may have read them. A hint, given
  // without waiting for anything: one that is lost costs the time until the next load(), never a task. By default there
  // is nobody who could be told.
  virtual void announce(const std::string& space);
  // Calls `wake`, which must be quick, from a thread of the store: when another process has announced, or a transaction
  // that this one joined has committed, and once whenever such news may have been missed. Null: none come here.
  virtual std::unique_ptr<Listening> listen(const std::string& space, std::function<void()> wake);
};

}  // namespace easyretry::storage
