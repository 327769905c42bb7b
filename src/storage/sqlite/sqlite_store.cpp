#include "storage/sqlite/sqlite_store.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "storage/checks.h"
#include "storage/sqlite/claimed_rows.h"
#include "storage/sqlite/errors.h"
#include "storage/sqlite/housekeeping.h"
#include "storage/sqlite/joined_transaction.h"
#include "storage/sqlite/loader.h"
#include "storage/sqlite/lock_file.h"
#include "storage/sqlite/log_rewrite.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/pauses.h"
#include "storage/sqlite/queries.h"
#include "storage/sqlite/store_file.h"
#include "storage/sqlite/writer.h"
#include "task/task_id.h"

namespace easyretry::storage {
namespace {

using namespace sqlite;

void validate(const SqliteOptions& options) {
  if (options.path.empty()) throw std::invalid_argument("a SQLite store needs the path of its file: sqlite:retry.db");
  if (options.total_shards < 1 || options.total_shards > task::kMaxShards) {
    throw std::invalid_argument("total_shards must be 1 to 4096, not " + std::to_string(options.total_shards));
  }
  if (options.keep_months < 1) {
    throw std::invalid_argument("keep_months must be 1 or more, not " + std::to_string(options.keep_months) +
                                " (history=none keeps no history)");
  }
}

// Nothing is written before the file is known to be ours.
Connection open_database(const SqliteOptions& options) {
  forget_unsynced(options.path);
  Connection db = open_writer(options, Connection::Mode::create);
  check_schema(db, options.shared);
  if (const auto mode = db.text("PRAGMA journal_mode = WAL"); mode != "wal") {
    throw SqliteError{SQLITE_CANTOPEN, "no write-ahead log is possible here (journal mode " + mode + ")"};
  }
  rewrite_log(db, std::nullopt);  // left by a process that may have been killed after a failed sync
  migrate(db, options.shared);
  agree_on_shards(db, options.total_shards);
  return db;
}

bool names_a_task_twice(std::span<const Ticket> tickets) {
  std::vector<TaskId> ids;
  ids.reserve(tickets.size());
  for (const Ticket& ticket : tickets) ids.push_back(ticket.id);
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) != ids.end();
}

class SqliteStore final : public Store {
 public:
  SqliteStore(const SqliteOptions& options, const Clock& clock)
      : options_(options),
        clock_(clock),
        lock_(options.path),
        trust_(options.path),
        writer_(options, open_database(options), clock, trust_, [this] { close_readers(); }),
        housekeeping_(writer_, options.keep_months),
        loader_(options.path, trust_, clock),
        claimed_rows_(options.path, trust_),
        queries_(options.path, trust_) {}

  StoreInfo info() const override {
    return {.url = "sqlite:" + options_.path.string(),
            .total_shards = options_.total_shards,
            .durability = {options_.full_sync ? "a crash of the process or the operating system, and a power cut"
                                              : "a crash of the process; a power cut may lose the last moments"}};
  }

  InsertResult insert(std::span<const NewTask> tasks) override;
  Result<InsertReply> insert_within(const Transaction& transaction, std::span<const NewTask> tasks) override;
  Result<LoadReply> load(const LoadQuery& query) override {
    return read("sqlite.load", [&] { return loader_.load(query); });
  }
  Result<ClaimReply> claim(const ClaimRequest& request) override;
  Result<Applied> settle(std::span<const Settlement> settlements) override;
  Result<Applied> renew(std::span<const Renewal> renewals) override;

  Result<std::vector<TaskRecord>> find(std::span<const TaskId> ids) override {
    return read("sqlite.find", [&] { return queries_.find(ids); });
  }
  Result<std::vector<TaskRecord>> list(const TaskQuery& query) override;
  Result<std::int64_t> count(const TaskQuery& query) override {
    return read("sqlite.count", [&] { return queries_.count(query); });
  }
  Result<Counts> counts(std::string_view space) override {
    return read("sqlite.counts", [&] { return queries_.counts(space); });
  }

  Result<Applied> revise(std::span<const Revision> revisions) override;
  Result<Applied> cancel(std::span<const TaskId> ids, Cancel how) override;
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids) override;
  Result<bool> pause(std::string_view space, std::string_view handler, std::string_view why) override;
  Result<bool> resume(std::string_view space, std::string_view handler) override;
  Result<PausedReply> paused(std::string_view space) override {
    return read("sqlite.paused", [&] { return PausedReply{clock_.now(), queries_.paused(space)}; });
  }
  Result<KeepReport> keep() override { return housekeeping_.keep(); }

  std::uint64_t commits() const { return writer_.commits(); }

 private:
  // Where the file is not trusted, that comes first.
  template <class Body>
  auto read(std::string_view where, Body body) -> Result<decltype(body())> {
    if (auto error = writer_.restore_trust(where)) return tl::make_unexpected(*std::move(error));
    return guarded(where, body);
  }
  void close_readers() {
    loader_.close();
    claimed_rows_.close();
    queries_.close();
  }
  Result<ClaimReply> claim_together(const ClaimRequest& request);
  Result<ClaimReply> claim_one_by_one(const ClaimRequest& request);

  // Fixed after construction
  const SqliteOptions options_;
  const Clock& clock_;

  // In this order: readers close before the writer, whose closing checkpoints, and the lock is let go last
  LockFile lock_;
  Trust trust_;
  Writer writer_;
  Housekeeping housekeeping_;
  Loader loader_;
  ClaimedRows claimed_rows_;
  Queries queries_;
};

InsertResult SqliteStore::insert(std::span<const NewTask> tasks) {
  if (auto error = refuse_batch(tasks, "sqlite.insert")) return tl::make_unexpected(*std::move(error));
  if (tasks.empty()) return InsertReply{.now = clock_.now(), .tasks = {}};
  InsertReply reply;
  auto written = writer_.write("sqlite.insert", tasks.size(), Promise::kept, [&](Session& session, TimePoint now) {
    reply = session.inserts.insert(tasks, now);
    return true;
  });
  if (!written) return tl::make_unexpected(failure(std::move(written.error()), reply));
  return reply;
}

Result<InsertReply> SqliteStore::insert_within(const Transaction& transaction, std::span<const NewTask> tasks) {
  if (transaction.kind != Transaction::Kind::sqlite) return Store::insert_within(transaction, tasks);
  if (auto error = refuse_batch(tasks, "sqlite.insert")) return tl::make_unexpected(*std::move(error));
  return guarded("sqlite.insert", [&] {
    trust_.check();
    JoinedTransaction joined{static_cast<sqlite3*>(transaction.connection), options_.path};
    return joined.insert(tasks, writer_.ids(), options_.total_shards, clock_.now());
  });
}

// By its key it is found out whether a task was stored: what is found then is on the disk, not on its way there.
Result<std::vector<TaskRecord>> SqliteStore::list(const TaskQuery& query) {
  auto found = read("sqlite.list", [&] { return queries_.list(query); });
  if (!found || query.key.empty()) return found;
  if (auto error = writer_.wait_for_disk("sqlite.list")) return tl::make_unexpected(*std::move(error));
  return found;
}

Result<ClaimReply> SqliteStore::claim(const ClaimRequest& request) {
  if (request.tickets.empty()) return ClaimReply{.now = clock_.now(), .won = {}};
  return names_a_task_twice(request.tickets) ? claim_one_by_one(request) : claim_together(request);
}

Result<ClaimReply> SqliteStore::claim_together(const ClaimRequest& request) {
  const auto won = writer_.write("sqlite.claim", request.tickets.size(), Promise::unneeded,
                                 [&](Session& session, TimePoint now) { return session.claims.claim(request, now); });
  if (!won) return tl::make_unexpected(won.error());
  auto reply = guarded("sqlite.claim", [&] {
    return ClaimReply{.now = won->now, .won = claimed_rows_.read(won->tickets, request.owner)};
  });
  if (!reply) reply.error().code = Errc::in_doubt;  // claimed they are
  return reply;
}

// With a lease that ends at once a task can be won twice in a batch, and each time it looks different.
Result<ClaimReply> SqliteStore::claim_one_by_one(const ClaimRequest& request) {
  ClaimReply all;
  for (const Ticket& ticket : request.tickets) {
    ClaimRequest one = request;
    one.tickets = {&ticket, 1};
    auto reply = claim_together(one);
    if (!reply) {
      if (!all.won.empty()) reply.error().code = Errc::in_doubt;  // something was done
      return reply;
    }
    all.now = reply->now;
    std::move(reply->won.begin(), reply->won.end(), std::back_inserter(all.won));
  }
  return all;
}

Result<Applied> SqliteStore::settle(std::span<const Settlement> settlements) {
  if (settlements.empty()) return Applied{.now = clock_.now(), .applied = {}};
  return writer_.write("sqlite.settle", settlements.size(), Promise::kept,
                       [&](Session& session, TimePoint now) { return session.settlements.settle(settlements, now); });
}

Result<Applied> SqliteStore::renew(std::span<const Renewal> renewals) {
  if (renewals.empty()) return Applied{.now = clock_.now(), .applied = {}};
  return writer_.write("sqlite.renew", renewals.size(), Promise::unneeded,
                       [&](Session& session, TimePoint now) { return session.claims.renew(renewals, now); });
}

Result<Applied> SqliteStore::revise(std::span<const Revision> revisions) {
  if (revisions.empty()) return Applied{.now = clock_.now(), .applied = {}};
  return writer_.write("sqlite.revise", revisions.size(), Promise::kept,
                       [&](Session& session, TimePoint now) { return session.operations.revise(revisions, now); });
}

Result<Applied> SqliteStore::cancel(std::span<const TaskId> ids, Cancel how) {
  if (ids.empty()) return Applied{.now = clock_.now(), .applied = {}};
  return writer_.write("sqlite.cancel", ids.size(), Promise::kept,
                       [&](Session& session, TimePoint now) { return session.operations.cancel(ids, how, now); });
}

Result<std::vector<std::optional<TaskId>>> SqliteStore::requeue(std::span<const TaskId> ids) {
  if (ids.empty()) return std::vector<std::optional<TaskId>>{};
  return writer_.write("sqlite.requeue", ids.size(), Promise::kept,
                       [&](Session& session, TimePoint now) { return session.operations.requeue(ids, now); });
}

Result<bool> SqliteStore::pause(std::string_view space, std::string_view handler, std::string_view why) {
  if (auto error = refuse_pause(space, handler, why, "sqlite.pause")) return tl::make_unexpected(*std::move(error));
  const auto pausing = writer_.write("sqlite.pause", 1, Promise::kept, [&](Session& session, TimePoint now) {
    return sqlite::pause(session.db, space, {std::string{handler}, now, std::string{why}});
  });
  if (!pausing) return tl::make_unexpected(pausing.error());
  return answer_of(*pausing, "sqlite.pause");
}

Result<bool> SqliteStore::resume(std::string_view space, std::string_view handler) {
  return writer_.write("sqlite.resume", 1, Promise::kept,
                       [&](Session& session, TimePoint) { return sqlite::resume(session.db, space, handler); });
}

}  // namespace

std::unique_ptr<Store> open_sqlite(const SqliteOptions& options, const Clock& clock) {
  validate(options);
  SqliteOptions placed = options;
  placed.path = checked_place(options.path);
  check_ownership(placed.path, placed.shared);
  try {
    return std::make_unique<SqliteStore>(placed, clock);
  } catch (const SqliteError& error) {
    Error refusal = to_error(error, "sqlite.open");
    refusal.detail = placed.path.string() + ": " + refusal.detail;
    throw StoreError{std::move(refusal)};
  }
}

std::uint64_t sqlite_commit_count(const Store& store) {
  return dynamic_cast<const SqliteStore&>(store).commits();
}

}  // namespace easyretry::storage
