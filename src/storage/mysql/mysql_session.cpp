#include "storage/mysql/mysql_session.h"

#include <algorithm>

#include "storage/mysql/changes.h"
#include "storage/mysql/columns.h"
#include "storage/mysql/counting.h"
#include "storage/mysql/inbox_sql.h"
#include "storage/mysql/inserts.h"
#include "storage/mysql/joining.h"
#include "storage/mysql/literals.h"
#include "storage/mysql/loading.h"
#include "storage/mysql/pauses.h"
#include "storage/mysql/pieces.h"
#include "storage/mysql/search_sql.h"
#include "storage/mysql/set_up.h"
#include "storage/mysql/statements.h"
#include "storage/server/server_error.h"
#include "storage/sql/inbox_columns.h"

namespace easyretry::storage::mysql {
namespace {

const std::string kNow = std::string{"SELECT "} + kServerTime;

TimePoint time_of(const std::string& milliseconds) {
  return from_ms(std::stoll(milliseconds));
}

std::vector<TaskRecord> records(Rows rows) {
  std::vector<TaskRecord> records;
  while (rows.next()) records.push_back(read_record(rows));
  return records;
}

std::vector<TaskId> ascending(std::span<const TaskId> ids) {
  std::vector<TaskId> sorted{ids.begin(), ids.end()};
  std::ranges::sort(sorted);
  return sorted;
}

void append(std::vector<TaskRecord>& all, std::vector<TaskRecord> more) {
  std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

MysqlSession::MysqlSession(const MysqlAddress& address)
    : Session(*this, *this),
      connection_(address),
      lock_timeout_(address.lock_timeout),
      brief_lock_timeout_(address.brief_lock_timeout) {
  set_up(connection_, address);
}

MysqlSession::MysqlSession(MYSQL* theirs) : Session(*this, *this), connection_(join(theirs)) {}

// READ WRITE: a server that has become a read-only replica says so here, before any work is done.
TimePoint MysqlSession::begin(Promise /*promise*/) {
  connection_.wait_for_locks(lock_wait_);
  const std::chrono::seconds timeout = lock_wait_ == sql::LockWait::patient ? lock_timeout_ : brief_lock_timeout_;
  return time_of(connection_.ask(set_lock_timeout(timeout) + "START TRANSACTION READ WRITE;" + kNow));
}

// Nothing where it is so already: sessions of one pool are used for one kind of work.
std::string MysqlSession::set_lock_timeout(std::chrono::seconds timeout) {
  if (timeout == timeout_set_) return {};
  timeout_set_ = timeout;
  return "SET SESSION innodb_lock_wait_timeout = " + std::to_string(timeout.count()) + ";";
}

// Sums that the server does not take are refused before it commits. Otherwise only a conflict is sure to have undone
// it; of anything else nobody can say, so that the connection counts as lost.
void MysqlSession::commit() {
  const std::string counting = sums_.empty() ? "" : insert_sums(sums_, random_) + ";";
  try {
    connection_.run(counting + "COMMIT WORK");
  } catch (const server::ServerError& error) {
    if (error.trouble() == server::Trouble::again || error.trouble() == server::Trouble::locked) throw;
    if (!counting.empty() && !connection_.broken() && connection_.replies() == 0) throw;
    broken_ = true;
    if (error.trouble() == server::Trouble::silent) throw;
    throw server::ServerError(server::Trouble::gone, error.what());
  }
}

void MysqlSession::write_sums() {
  if (!sums_.empty()) connection_.run(insert_sums(sums_, random_));
}

void MysqlSession::roll_back() noexcept {
  try {
    connection_.run("ROLLBACK");
  } catch (...) {
    broken_ = true;
  }
}

TimePoint MysqlSession::now() {
  return time_of(connection_.ask(kNow));
}

bool MysqlSession::in_transaction() {
  return connection_.in_transaction();
}

std::vector<TaskId> MysqlSession::insert(const std::string& table, const std::string& history,
                                         std::span<const TaskRecord> rows) {
  return mysql::insert(connection_, table, history, rows);
}

std::vector<sql::LiveKey> MysqlSession::live_keys(const std::string& table, std::span<const TaskRecord> keys) {
  return mysql::live_keys(connection_, table, keys);
}

void MysqlSession::update_rules(const std::string& table, std::span<const sql::NewRules> updates) {
  mysql::update_rules(connection_, table, updates);
}

std::vector<TaskId> MysqlSession::take_keys(std::span<const TaskRecord> rows) {
  return mysql::take_keys(connection_, rows);
}

std::vector<sql::KeyHolder> MysqlSession::key_holders(std::span<const TaskRecord> keys) {
  return mysql::key_holders(connection_, keys);
}

std::vector<TaskRecord> MysqlSession::claim(const std::string& table, const ClaimRequest& request, TimePoint now) {
  return mysql::claim(connection_, table, request, now);
}

std::vector<sql::EndedRow> MysqlSession::finish(const std::string& table, const std::string& history,
                                                std::span<const Settlement> settlements, TimePoint now) {
  return mysql::finish(connection_, table, history, settlements, now);
}

std::vector<TaskId> MysqlSession::reschedule(const std::string& table, std::span<const Settlement> settlements,
                                             TimePoint now) {
  return mysql::reschedule(connection_, table, settlements, now);
}

std::vector<TaskId> MysqlSession::renew(const std::string& table, std::span<const Renewal> renewals, TimePoint now) {
  return mysql::renew(connection_, table, renewals, now);
}

void MysqlSession::hold(const std::string& table, std::span<const TaskId> ids) {
  const std::vector<TaskId> sorted = ascending(ids);
  by_pieces(std::span<const TaskId>{sorted}, [&](std::span<const TaskId> piece) {
    connection_.select(mysql::hold(table, piece, connection_.for_update_of_many()));
  });
}

std::vector<TaskId> MysqlSession::hold_free(const std::string& table, std::span<const TaskId> ids) {
  const std::vector<TaskId> sorted = ascending(ids);
  std::vector<TaskId> free;
  by_pieces(std::span<const TaskId>{sorted}, [&](std::span<const TaskId> piece) {
    Rows rows = connection_.select(mysql::hold(table, piece, kOfTheFree));
    while (rows.next()) free.push_back(TaskId{rows.integer(0)});
  });
  return free;
}

std::vector<TaskRecord> MysqlSession::lock(const std::string& table, std::span<const TaskId> ids) {
  const std::vector<TaskId> sorted = ascending(ids);
  std::vector<TaskRecord> all;
  by_pieces(std::span<const TaskId>{sorted}, [&](std::span<const TaskId> piece) {
    append(all, records(connection_.select(locked(table, piece, connection_.for_update()))));
  });
  return all;
}

// One by one, 45 µs each: only what people ask for goes this way.
void MysqlSession::update(const std::string& table, std::span<const TaskRecord> rows, TimePoint now) {
  for (const TaskRecord& row : rows) {
    check_lengths(row);
    connection_.run(mysql::update(table, row, now));
  }
}

void MysqlSession::remove(const std::string& table, std::span<const TaskId> ids) {
  const std::vector<TaskId> sorted = ascending(ids);
  by_pieces(std::span<const TaskId>{sorted},
            [&](std::span<const TaskId> piece) { connection_.run(mysql::remove(table, piece)); });
}

void MysqlSession::insert_history(const std::string& history, std::span<const TaskRecord> rows) {
  mysql::insert_history(connection_, history, rows);
}

std::vector<TaskRecord> MysqlSession::lock_history(const std::string& history, std::span<const TaskId> ids) {
  const std::vector<TaskId> sorted = ascending(ids);
  std::vector<TaskRecord> all;
  by_pieces(std::span<const TaskId>{sorted}, [&](std::span<const TaskId> piece) {
    append(all, records(connection_.select(locked_history(history, piece))));
  });
  return all;
}

// One by one, as update().
void MysqlSession::mark_requeued(const std::string& history, std::span<const sql::Requeued> requeued) {
  for (const sql::Requeued& one : requeued) connection_.run(mysql::mark_requeued(history, one));
}

sql::Moved MysqlSession::move(const sql::Move& move) {
  std::vector<TaskId> ids;
  Rows rows = connection_.select(lowest_locked(move));
  while (rows.next()) ids.push_back(TaskId{rows.integer(0)});
  by_pieces(std::span<const TaskId>{ids},
            [&](std::span<const TaskId> piece) { connection_.run(mysql::copy(move.from, move.to, piece)); });
  remove(move.from, ids);
  return {ids.size(), ids.empty() ? TaskId{} : ids.back()};
}

ShardPage MysqlSession::shard_page(const ShardPageQuery& query, TimePoint now) {
  Rows rows = connection_.select(mysql::shard_page(query, now));
  rows.next();
  return {.rows = rows.integer(0),
          .misnumbered = rows.integer(1),
          .leased = rows.integer(2),
          .last = TaskId{rows.integer(3)},
          .holder = std::string{rows.text(4)}};
}

void MysqlSession::renumber(const ShardPageQuery& query, TaskId last) {
  connection_.run(mysql::renumber(query, last));
}

std::vector<InboxRow> MysqlSession::inbox(const IntakeQuery& query) {
  std::vector<InboxRow> found;
  Rows rows = connection_.select(mysql::inbox(query));
  while (rows.next()) found.push_back(sql::read_inbox_row(rows));
  return found;
}

void MysqlSession::refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) {
  connection_.run(mysql::refuse_inbox(id, why, now));
}

void MysqlSession::clear_inbox(std::span<const std::int64_t> ids) {
  by_pieces(ids, [&](std::span<const std::int64_t> piece) { connection_.run(mysql::clear_inbox(piece)); });
}

std::size_t MysqlSession::take_sums(std::size_t limit, Sums& into) {
  return mysql::take_sums(connection_, limit, into);
}

std::size_t MysqlSession::take_days(TimePoint before, std::size_t limit, Sums& into) {
  return mysql::take_days(connection_, before, limit, into);
}

void MysqlSession::add_totals(const Sums& sums) {
  mysql::add_totals(connection_, sums);
}

void MysqlSession::read_counts(std::string_view space, Sums& into) {
  mysql::read_counts(connection_, space, into);
}

bool MysqlSession::has_sums() {
  return connection_.select("SELECT 1 FROM retry_count_delta LIMIT 1").next();
}

BeatReply MysqlSession::beat(const Beat& beat, std::optional<TimePoint> now) {
  return members_.beat(connection_, beat, now);
}

std::vector<Member> MysqlSession::members(std::string_view space, TimePoint now) {
  return mysql::members(connection_, space, now);
}

bool MysqlSession::leave(std::string_view space, std::string_view node) {
  return mysql::leave(connection_, space, node);
}

Pausing MysqlSession::pause(std::string_view space, const PausedHandler& handler) {
  return mysql::pause(connection_, space, handler);
}

bool MysqlSession::resume(std::string_view space, std::string_view handler) {
  return mysql::resume(connection_, space, handler);
}

PausedReply MysqlSession::paused(std::string_view space, std::optional<TimePoint> now) {
  return mysql::paused(connection_, space, now);
}

std::vector<sql::DueRow> MysqlSession::due(const std::string& table, const sql::DueQuery& query) {
  return mysql::due(connection_, table, query);
}

sql::Glance MysqlSession::glance(const LoadQuery& query, std::optional<TimePoint> now) {
  return mysql::glance(connection_, query, now);
}

sql::DuePage MysqlSession::load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) {
  return mysql::load(connection_, table, query, now);
}

std::vector<TaskRecord> MysqlSession::find(const std::string& table, bool history, std::span<const TaskId> ids) {
  std::vector<TaskRecord> all;
  by_pieces(ids, [&](std::span<const TaskId> piece) {
    append(all, records(connection_.select(found(table, history, piece) + (history ? "" : connection_.up_to_date()))));
  });
  return all;
}

std::vector<TaskRecord> MysqlSession::page(const sql::Search& search) {
  return records(connection_.select(mysql::page(search)));
}

std::int64_t MysqlSession::count(const sql::Search& search) {
  return std::stoll(connection_.ask(mysql::count(search)));
}

Durability MysqlSession::durability() {
  return mysql::durability(connection_);
}

}  // namespace easyretry::storage::mysql

namespace easyretry::storage {

std::unique_ptr<sql::Session> connect_mysql(const MysqlAddress& address) {
  return std::make_unique<mysql::MysqlSession>(address);
}

std::unique_ptr<sql::Session> join_mysql(st_mysql* theirs) {
  return std::make_unique<mysql::MysqlSession>(theirs);
}

}  // namespace easyretry::storage
