#include "storage/sqlite/sqlite_store.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "storage/checks.h"
#include "storage/list_walk.h"
#include "storage/record_columns.h"
#include "storage/sqlite/housekeeping.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/reads.h"
#include "storage/sqlite/statements.h"
#include "storage/sqlite/store_file.h"
#include "storage/sqlite/wal.h"
#include "storage/sqlite/writer.h"
#include "storage/task_walk.h"
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
  Connection db = open_writer(options.path, Connection::Mode::create);
  check_schema(db, options.shared);
  if (const auto mode = db.text("PRAGMA journal_mode = WAL"); mode != "wal") {
    throw SqliteError{SQLITE_CANTOPEN, "no write-ahead log is possible here (journal mode " + mode + ")"};
  }
  rewrite_log(db, std::nullopt);  // of a process that may have been killed after a failed sync
  migrate(db, options.shared);
  agree_on_shards(db, options.total_shards);
  return db;
}

std::size_t count_paused(Connection& db, std::string_view name_space) {
  PreparedStatement count = db.prepare(statements::count_paused);
  count.bind(1, name_space);
  Rows rows{count};
  return rows.next() ? static_cast<std::size_t>(count.integer(0)) : 0;
}

bool resume_handler(Connection& db, std::string_view name_space, std::string_view handler) {
  return db.prepare(statements::resume).bind(1, name_space).bind(2, handler).run() > 0;
}

// Stores it first, and takes it back if there are too many: a handler that is already paused does not add to them.
PauseOutcome pause_handler(Connection& db, std::string_view name_space, std::string_view handler, std::string_view why,
                           TimePoint now) {
  PreparedStatement insert = db.prepare(statements::pause);
  if (insert.bind(1, name_space).bind(2, handler).bind(3, to_ms(now)).bind(4, why).run() == 0)
    return PauseOutcome::was_paused;
  if (count_paused(db, name_space) <= kMostPaused) return PauseOutcome::paused;
  resume_handler(db, name_space, handler);
  return PauseOutcome::too_many;
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
        retention_(writer_),
        loader_(options.path, trust_, clock),
        claimed_rows_(options.path, trust_),
        queries_(options.path, trust_) {}

  StoreInfo info() const override {
    return {.url = "sqlite:" + options_.path.string(),
            .total_shards = options_.total_shards,
            .durability = {options_.full_sync ? "a crash of the process or the operating system, and a power cut"
                                              : "a crash of the process; a power cut may lose the last moments"},
            .indexes_handlers = true};
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
  Result<Counts> counts(std::string_view name_space) override {
    return read("sqlite.counts", [&] { return queries_.counts(name_space); });
  }

  Result<Applied> revise(std::span<const Revision> revisions) override;
  Result<Applied> end(std::span<const Ending> endings) override;
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids, std::optional<TaskClass> as) override;
  Result<std::optional<TaskId>> requeue_with(TaskId id, std::string_view arguments,
                                             std::optional<TaskClass> as) override;
  Result<bool> pause(std::string_view name_space, std::string_view handler, std::string_view why) override;
  Result<bool> resume(std::string_view name_space, std::string_view handler) override;
  Result<ListPage> scan(const TaskQuery& query) override;
  Result<bool> save_series(std::string_view name_space, const SeriesPart& part) override;
  Result<std::vector<SeriesPart>> saved_series(std::string_view name_space) override {
    return read("sqlite.saved_series", [&] { return queries_.saved_series(name_space); });
  }
  Result<PausedReply> paused(std::string_view name_space) override {
    return read("sqlite.paused", [&] { return PausedReply{clock_.now(), queries_.paused(name_space)}; });
  }
  Result<KeepReport> keep() override { return housekeeping_.keep(); }
  Result<bool> expire(std::span<const Retention> rules) override { return retention_.run(rules); }

  std::uint64_t commits() const { return writer_.commits(); }

 private:
  // If the file is not trusted, restoring trust comes first.
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

  // In this order: readers close before the writer, which checkpoints when it closes, and the lock is released last
  StoreLock lock_;
  Trust trust_;
  Writer writer_;
  Housekeeping housekeeping_;
  RetentionSweep retention_;
  Loader loader_;
  ClaimedRows claimed_rows_;
  Queries queries_;
};

InsertResult SqliteStore::insert(std::span<const NewTask> tasks) {
  if (auto error = refuse_batch(tasks, "sqlite.insert")) return tl::make_unexpected(*std::move(error));
  if (tasks.empty()) return InsertReply{.now = clock_.now(), .tasks = {}};
  InsertReply reply;
  auto written = writer_.write("sqlite.insert", tasks.size(), Answered::on_disk, [&](Session& session, TimePoint now) {
    reply = session.inserter.insert(tasks, now);
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
    return sqlite::insert_within(static_cast<sqlite3*>(transaction.connection), options_.path, tasks, writer_.ids(),
                                 options_.total_shards, clock_.now());
  });
}

// A list by key answers whether a task was stored: the tasks it returns are on the disk, not on their way there.
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
  const auto won = writer_.write("sqlite.claim", request.tickets.size(), Answered::at_commit,
                                 [&](Session& session, TimePoint now) { return session.changes.claim(request, now); });
  if (!won) return tl::make_unexpected(won.error());
  auto reply = guarded("sqlite.claim", [&] {
    return ClaimReply{.now = won->now, .won = claimed_rows_.read(won->tickets, request.owner)};
  });
  if (!reply) reply.error().code = Errc::in_doubt;  // the tasks are claimed
  return reply;
}

// With a lease that ends at once, a batch can win a task twice, and its record differs each time.
Result<ClaimReply> SqliteStore::claim_one_by_one(const ClaimRequest& request) {
  ClaimReply all;
  for (const Ticket& ticket : request.tickets) {
    ClaimRequest one = request;
    one.tickets = {&ticket, 1};
    auto reply = claim_together(one);
    if (!reply) {
      if (!all.won.empty()) reply.error().code = Errc::in_doubt;  // some are claimed
      return reply;
    }
    all.now = reply->now;
    std::move(reply->won.begin(), reply->won.end(), std::back_inserter(all.won));
  }
  return all;
}

Result<Applied> SqliteStore::settle(std::span<const Settlement> settlements) {
  if (settlements.empty()) return Applied{.now = clock_.now(), .applied = {}};
  return writer_.write("sqlite.settle", settlements.size(), Answered::on_disk,
                       [&](Session& session, TimePoint now) { return session.changes.settle(settlements, now); });
}

Result<Applied> SqliteStore::renew(std::span<const Renewal> renewals) {
  if (renewals.empty()) return Applied{.now = clock_.now(), .applied = {}};
  return writer_.write("sqlite.renew", renewals.size(), Answered::at_commit,
                       [&](Session& session, TimePoint now) { return session.changes.renew(renewals, now); });
}

Result<Applied> SqliteStore::revise(std::span<const Revision> revisions) {
  if (revisions.empty()) return Applied{.now = clock_.now(), .applied = {}};
  return writer_.write("sqlite.revise", revisions.size(), Answered::on_disk,
                       [&](Session& session, TimePoint now) { return session.changes.revise(revisions, now); });
}

Result<Applied> SqliteStore::end(std::span<const Ending> endings) {
  if (endings.empty()) return Applied{.now = clock_.now(), .applied = {}};
  return writer_.write("sqlite.end", endings.size(), Answered::on_disk,
                       [&](Session& session, TimePoint now) { return session.changes.end(endings, now); });
}

Result<std::vector<std::optional<TaskId>>> SqliteStore::requeue(std::span<const TaskId> ids,
                                                                std::optional<TaskClass> as) {
  if (ids.empty()) return std::vector<std::optional<TaskId>>{};
  return writer_.write("sqlite.requeue", ids.size(), Answered::on_disk,
                       [&](Session& session, TimePoint now) { return session.changes.requeue(ids, {}, as, now); });
}

Result<std::optional<TaskId>> SqliteStore::requeue_with(TaskId id, std::string_view arguments,
                                                        std::optional<TaskClass> as) {
  return writer_.write("sqlite.requeue", 1, Answered::on_disk, [&](Session& session, TimePoint now) {
    return session.changes.requeue({&id, 1}, arguments, as, now).front();
  });
}

Result<bool> SqliteStore::pause(std::string_view name_space, std::string_view handler, std::string_view why) {
  if (auto error = refuse_pause(name_space, handler, why, "sqlite.pause"))
    return tl::make_unexpected(*std::move(error));
  const auto outcome = writer_.write("sqlite.pause", 1, Answered::on_disk, [&](Session& session, TimePoint now) {
    return pause_handler(session.db, name_space, handler, why, now);
  });
  if (!outcome) return tl::make_unexpected(outcome.error());
  return answer_of(*outcome, "sqlite.pause");
}

// An index of history has the handlers and outcomes.
Result<ListPage> SqliteStore::scan(const TaskQuery& query) {
  if (!query.finished) return Store::scan(query);
  TaskQuery indexed = query;
  indexed.business_type.clear();
  if (!asks_for_failures(query) || query.outcome) return list(indexed).map(as_page_of(indexed));
  std::vector<TaskRecord> failures;
  for (const Outcome outcome : kFailures) {
    indexed.outcome = outcome;
    auto found = list(indexed);
    if (!found) return tl::make_unexpected(found.error());
    std::ranges::move(*found, std::back_inserter(failures));
  }
  ListWalk{query}.cut_to_page(failures);
  return as_page_of(indexed)(std::move(failures));
}

Result<bool> SqliteStore::save_series(std::string_view name_space, const SeriesPart& part) {
  return writer_.write("sqlite.save_series", 1, Answered::at_commit, [&](Session& session, TimePoint) {
    session.db.prepare(statements::save_series).bind(1, name_space).bind(2, part.number).bind(3, part.text).run();
    return true;
  });
}

Result<bool> SqliteStore::resume(std::string_view name_space, std::string_view handler) {
  return writer_.write("sqlite.resume", 1, Answered::on_disk,
                       [&](Session& session, TimePoint) { return resume_handler(session.db, name_space, handler); });
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
