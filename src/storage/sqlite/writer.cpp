#include "storage/sqlite/writer.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/random.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {
namespace {

// 64 MiB. A commit waits for the checkpoint before it. With 4,000 pages one in a hundred does, for 5 ms and at most 16;
// with these one in four hundred, for 8 ms and at most 38, because a page that changes often is copied once.
constexpr int kCheckpointPages = 16000;

// The pause between two attempts to write the log again, which may be 64 MiB long, on a disk that fails.
constexpr Millis kBetweenTries{100};

// More versions than a task can have gone through since the sync that failed: each end of a run is synced.
constexpr int kMostVersionsLost = 1000;

TaskId highest_id(Connection& db) {
  const auto highest_in = [&](std::string_view table) {
    return db.integer(statements::highest_id.with({{"table", table}}));
  };
  std::int64_t highest = highest_in("retry_state");
  for (const std::string& table : history_tables(db)) highest = std::max(highest, highest_in(table));
  return TaskId{highest};
}

int remember_wal_pages(void* wal_pages, sqlite3*, const char*, int pages) {
  *static_cast<int*>(wal_pages) = pages;
  return SQLITE_OK;
}

// The first sync of a new file also makes its name durable, and several threads must not do that at once.
sqlite3_file* open_log(sqlite3* db) {
  sqlite3_file* log = nullptr;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
  if (code == SQLITE_OK && (log == nullptr || log->pMethods == nullptr)) code = SQLITE_CANTOPEN;
  if (code == SQLITE_OK) code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  if (code != SQLITE_OK) throw SqliteError{code, "the write-ahead log cannot be synced"};
  return log;
}

}  // namespace

Session::Session(Connection opened, const SqliteOptions& options, GrowingIds& ids)
    : db(std::move(opened)),
      space(db),
      begin(db.prepare("BEGIN IMMEDIATE")),  // a deferred one fails at once instead of waiting for its turn
      commit(db.prepare("COMMIT")),
      history(db),
      calls(db),
      count_totals(db),
      inserter(db, calls, sums, ids, options.total_shards),
      changes(db, calls, history, options.history, sums, ids, options.total_shards) {
  // Replaces SQLite's own checkpoint at commit: ours runs after the group's callers have their answers.
  sqlite3_wal_hook(db.get(), remember_wal_pages, &wal_pages);
  log = open_log(db.get());
  sync_folder(db);
  checkpoint_on_close(true);
}

void Session::write_sums() {
  count_totals.add(sums);
  sums.clear();
}

void Session::roll_back() {
  sums.clear();
  history.forget();
  if (db.in_transaction()) db.run("ROLLBACK");
}

int Session::checkpoint(int mode) {
  const int code = sqlite3_wal_checkpoint_v2(db.get(), nullptr, mode, nullptr, nullptr);
  space.forget();
  if (code == SQLITE_OK && mode == SQLITE_CHECKPOINT_TRUNCATE) wal_pages = 0;
  return code;
}

void Session::checkpoint_on_close(bool wanted) {
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, wanted ? 0 : 1, nullptr);
}

Writer::Writer(const SqliteOptions& options, Connection opened, const Clock& clock, Trust& trust,
               std::function<void()> close_readers)
    : options_(options),
      clock_(clock),
      trust_(trust),
      close_readers_(std::move(close_readers)),
      ids_(options.id_seed.value_or(base::random_seed()), highest_id(opened)),
      session_(std::make_unique<Session>(std::move(opened), options_, ids_)),
      checkpoint_at_(kCheckpointPages),
      group_({.commit = [this](GroupCommit::Group group) { run(group); },
              .before_commit = [this] { checkpoint(); },
              .sync = [this](GroupCommit::Group group) { wait_for_sync(group); }}) {}

Writer::~Writer() {
  if (session_ && trust_.broken()) session_->checkpoint_on_close(false);
}

void Writer::run(GroupCommit::Group group) {
  auto failure = transact(group);
  if (failure && failure->disk_full && shorten_log()) failure = transact(group);
  if (!failure) {
    ++commits_;
    return;
  }
  for (GroupCommit::Entry* const& entry : group) {
    if (group.size() > 1 && failure->alone_may_work) {
      run({&entry, 1});
    } else {
      auto& write = static_cast<Write&>(*entry);
      write.error = failure->error;
      write.error->where = write.where;
    }
  }
}

std::optional<Writer::Failed> Writer::transact(GroupCommit::Group group) {
  Phase phase = Phase::work;
  bool begun = false;
  try {
    if (trust_.broken()) read_back();
    const std::uint64_t epoch = trust_.epoch();
    session_->begin.run();
    begun = true;
    const TimePoint now = clock_.now();
    for (GroupCommit::Entry* entry : group) static_cast<Write*>(entry)->apply(*session_, now);
    session_->write_sums();
    session_->space.reserve();
    phase = Phase::commit;
    session_->commit.run();
    const std::uint64_t number = disk_.committed();
    if (!trust_.holds(epoch)) throw SqliteError{SQLITE_IOERR_FSYNC, trust_.why()};  // a sync of an earlier group failed
    for (GroupCommit::Entry* entry : group) {
      auto& write = static_cast<Write&>(*entry);
      write.commit = number;
      write.epoch = epoch;
    }
    return std::nullopt;
  } catch (const SqliteError& error) {
    return failed(error, phase, begun);
  } catch (const StoreError& refusal) {
    roll_back();
    return Failed{refusal.error(), true};
  } catch (const std::exception& error) {  // out of memory, for example
    roll_back();
    return Failed{{Errc::unavailable, {}, error.what()}, begun};
  }
}

// Other connections already see the commit, but if its sync fails a power cut may lose it. A sync that works says
// nothing about a commit for which an earlier sync failed, so the epoch is compared.
void Writer::wait_for_sync(GroupCommit::Group group) {
  for (GroupCommit::Entry* entry : group) {
    auto& write = static_cast<Write&>(*entry);
    if (write.commit == 0) continue;
    const int code = disk_.wait_for(write.commit, [this] { return sync_log(); });
    if (code == SQLITE_OK && trust_.holds(write.epoch)) continue;
    write.error = to_error({SQLITE_IOERR_FSYNC, trust_.why()}, write.where, Phase::commit);
  }
}

int Writer::sync_log() {
  const std::lock_guard lock{log_mutex_};
  if (!session_ || trust_.broken()) return SQLITE_IOERR_FSYNC;
  const int code = session_->sync_log();
  if (code != SQLITE_OK) trust_.lose(sqlite3_errstr(code));
  return code;
}

void Writer::checkpoint() {
  if (trust_.broken() || session_->wal_pages < checkpoint_at_) return;
  copy_log(SQLITE_CHECKPOINT_PASSIVE);
}

// For a full disk. The database already has the space for the copy. False: no space was gained.
bool Writer::shorten_log() {
  sqlite3_int64 length = 0;  // of the file: a transaction that was refused may have left pages at its end
  if (trust_.broken() || session_->log->pMethods->xFileSize(session_->log, &length) != SQLITE_OK) return false;
  return length > 0 && copy_log(SQLITE_CHECKPOINT_TRUNCATE) == SQLITE_OK;
}

// Syncs the commits first, and in this class: the kernel reports a failure to one sync of a file only. That must not be
// the sync inside the checkpoint, which no commit waits for, while another sync at the same time succeeds.
int Writer::copy_log(int mode) {
  if (const int code = disk_.wait_for(disk_.last_commit(), [this] { return sync_log(); }); code != SQLITE_OK) {
    return code;
  }
  const int code = session_->checkpoint(mode);
  const SqliteError error{code, sqlite3_errmsg(session_->db.get())};
  const bool broken = breaks_connection(error);
  checkpoint_at_ = kCheckpointPages + (broken ? session_->wal_pages : 0);
  if (broken) distrust(error.what());
  return code;
}

std::optional<Error> Writer::restore_trust(std::string_view where) {
  if (!trust_.broken()) return std::nullopt;
  auto done = write(where, 1, Answered::at_commit, [](Session&, TimePoint) { return true; });
  if (done) return std::nullopt;
  done.error().code = Errc::unavailable;
  return done.error();
}

std::optional<Error> Writer::wait_for_disk(std::string_view where) {
  if (!options_.full_sync) return std::nullopt;
  const std::uint64_t epoch = trust_.epoch();
  const int code = disk_.wait_for(disk_.last_commit(), [this] { return sync_log(); });
  if (code == SQLITE_OK && trust_.holds(epoch) && !trust_.broken()) return std::nullopt;
  return to_error({SQLITE_IOERR_FSYNC, trust_.why()}, where);
}

void Writer::read_back() {
  if (clock_.steady() < next_try_) trust_.check();
  next_try_ = clock_.steady() + kBetweenTries;
  try {
    try_to_read_back();
  } catch (const SqliteError& error) {
    throw SqliteError{error.extended_code(), trust_.why() + "; the last attempt to do so: " + error.what()};
  }
  next_try_ = Instant::min();
  trust_.restore();
  disk_.committed();  // or a wait for the last commit would still return the failure of its sync
}

// Closes all connections, so that SQLite rebuilds the log's index from the present log. Then brings all of that to the
// disk. Commits that were in the log when the failure was noticed are either still in it, or count as lost.
void Writer::try_to_read_back() {
  replace_session(nullptr);
  close_readers_();
  forget_unsynced(options_.path);
  Connection db = open_writer(options_.path, Connection::Mode::write);
  const bool whole = rewrite_log(db, seen_);
  auto session = std::make_unique<Session>(std::move(db), options_, ids_);
  if (!whole) {
    session->checkpoint_on_close(false);
    retire_versions(*session);
    session->checkpoint_on_close(true);
  }
  replace_session(std::move(session));
}

// Lost claims would be made again with the same versions, and a worker that still runs by the first claim could settle
// the second.
void Writer::retire_versions(Session& session) {
  session.begin.run();
  session.db.prepare(statements::retire_versions).bind(1, kMostVersionsLost).run();
  session.commit.run();
  if (const int code = session.sync_log(); code != SQLITE_OK) throw SqliteError{code, sqlite3_errstr(code)};
}

void Writer::distrust(const std::string& cause) {
  trust_.lose(cause);
  replace_session(nullptr);
}

void Writer::replace_session(std::unique_ptr<Session> by) {
  if (session_ && trust_.broken()) {
    seen_ = log_end(session_->db);
    session_->checkpoint_on_close(false);
  }
  const std::lock_guard lock{log_mutex_};
  session_ = std::move(by);
}

Writer::Failed Writer::failed(const SqliteError& error, Phase phase, bool begun) {
  Failed failure{to_error(error, {}, phase), begun, error.code() == SQLITE_FULL};
  if (breaks_connection(error)) trust_.lose(error.what());
  roll_back();
  if (failure.error.code == Errc::in_doubt) failure.alone_may_work = false;  // it may be stored already
  if (trust_.broken()) replace_session(nullptr);
  if (failure.disk_full && session_) session_->space.give_back();
  return failure;
}

void Writer::roll_back() {
  try {
    if (session_) session_->roll_back();
  } catch (const SqliteError& error) {
    distrust(error.what());  // closing the connection rolls back
  }
}

namespace {

// The file grows in steps of this many bytes; without a step, SQLite ignores the hint below.
constexpr int kGrowthStep = 256 * 1024;

// The index of a log of 64 MiB: 4,096 pages a region, and one region more for the transaction that exceeds it. If the
// index could not grow at a commit, the log could not be read any more, not even to shorten it.
constexpr int kIndexRegions = 5;
constexpr int kIndexRegion = 32768;

sqlite3_file* database_file(sqlite3* db) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
  return file;
}

// Best effort: on a disk that is already full, the index is as long as its log needs.
void reserve_index(sqlite3_file* file) {
  if (file->pMethods->iVersion < 2 || file->pMethods->xShmMap == nullptr) return;
  for (int region = 0; region < kIndexRegions; ++region) {
    void volatile* mapped = nullptr;
    if (file->pMethods->xShmMap(file, region, kIndexRegion, 1, &mapped) != SQLITE_OK) return;
  }
}

}  // namespace

ReservedSpace::ReservedSpace(Connection& db)
    : db_(db), page_size_(db.integer("PRAGMA page_size")), page_count_(db.prepare("PRAGMA page_count")) {
  int step = kGrowthStep;
  sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_CHUNK_SIZE, static_cast<void*>(&step));
  reserve_index(database_file(db_.get()));
}

// The space for the pages of the transaction, in whole steps.
std::int64_t ReservedSpace::needed() {
  Rows rows{page_count_};
  const std::int64_t bytes = rows.next() ? page_count_.integer(0) * page_size_ : 0;
  return (bytes + kGrowthStep - 1) / kGrowthStep * kGrowthStep;
}

void ReservedSpace::reserve() {
  sqlite3_int64 size = needed();
  if (size <= reserved_) return;
  const int code = sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_SIZE_HINT, static_cast<void*>(&size));
  if (code != SQLITE_OK) throw SqliteError{SQLITE_FULL, sqlite3_errstr(SQLITE_FULL)};
  reserved_ = size;
}

// In a transaction that writes nothing: meanwhile no other connection commits, and one that copies the log, as shells
// do, writes no page beyond those that are counted here.
void ReservedSpace::give_back() noexcept {
  try {
    const WriteTransaction lock{db_};
    sqlite3_file* const file = database_file(db_.get());
    const std::int64_t size = needed();
    sqlite3_int64 length = 0;
    if (file->pMethods->xFileSize(file, &length) == SQLITE_OK && length > size) file->pMethods->xTruncate(file, size);
    reserved_ = 0;
  } catch (const SqliteError&) {  // another program holds the lock; the next refusal tries again
  }
}

}  // namespace easyretry::storage::sqlite
