#pragma once
// PostgreSQL's side of sql/session.h. Its members are defined by topic: session.cpp (transactions), inserts.cpp,
// changes.cpp (claims, settlements and other changes) and reads.cpp. The statements are in sql/*.sql.

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#include "storage/postgres/connection.h"
#include "storage/postgres/ledger.h"
#include "storage/postgres/schema.h"
#include "storage/sql/session.h"

namespace easyretry::storage::postgres {

enum class Duplicates { fail, are_left_out };

// Whether the rows of a large batch are taken for new, as they nearly always are. ON CONFLICT costs a fifth of an
// insert: it looks into every unique index first, and writes every row twice, as a promise and as a row. Without it a
// row that is there already fails the transaction, which is then repeated with ON CONFLICT. So are the next batches of
// all connections: if keys do come twice, one batch in a thousand fails.
//
// Shared by the connections of a store. Safe to use from any thread.
class NewKeys {
 public:
  // insert(duplicates) -> answer. Throws what insert throws; a duplicate is Trouble::again.
  template <class Insert>
  auto expect(std::size_t rows, Insert insert) {
    if (rows < kLarge || doubted()) return insert(Duplicates::are_left_out);
    try {
      return insert(Duplicates::fail);
    } catch (const server::ServerError& error) {
      if (error.trouble() == server::Trouble::again) doubts_ = kDoubted;
      throw;
    }
  }

 private:
  static constexpr std::size_t kLarge = 200;  // with fewer, the commit is most of the time
  static constexpr int kDoubted = 1000;

  bool doubted() {
    if (doubts_ <= 0) return false;
    --doubts_;
    return true;
  }

  std::atomic<int> doubts_ = 0;
};

class PostgresSession final : public sql::Session {
 public:
  // `settings` as libpq takes them: host=… port=… user=…. Throws server::ServerError.
  PostgresSession(const std::string& settings, std::shared_ptr<NewKeys> new_keys);
  // On a connection of the application, which stays open.
  explicit PostgresSession(PGconn* borrowed);

  // session.cpp
  bool broken() const override { return db_.broken(); }
  TimePoint begin(Promise promise) override;
  void commit() override;
  void roll_back() noexcept override { db_.roll_back(); }
  TimePoint now() override;
  bool in_transaction() override { return db_.in_transaction(); }
  void run(const std::string& statement) override { db_.run(statement); }

  // inserts.cpp
  std::vector<TaskId> insert(const std::string& table, const std::string& history,
                             std::span<const TaskRecord> rows) override;
  std::vector<sql::LiveKey> live_keys(const std::string& table, std::span<const TaskRecord> keys) override;
  void update_rules(const std::string& table, std::span<const sql::NewRules> updates) override;
  std::vector<TaskId> take_keys(std::span<const TaskRecord> rows) override;
  std::vector<sql::KeyHolder> key_holders(std::span<const TaskRecord> keys) override;
  void insert_history(const std::string& history, std::span<const TaskRecord> rows) override;

  // changes.cpp
  std::vector<TaskRecord> claim(const std::string& table, const ClaimRequest& request, TimePoint now) override;
  std::vector<sql::EndedRow> finish(const std::string& table, const std::string& history,
                                    std::span<const Settlement> settlements, TimePoint now) override;
  std::vector<TaskId> reschedule(const std::string& table, std::span<const Settlement> settlements,
                                 TimePoint now) override;
  std::vector<TaskId> renew(const std::string& table, std::span<const Renewal> renewals, TimePoint now) override;
  void hold(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskId> hold_free(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> lock(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> lock_history(const std::string& history, std::span<const TaskId> ids) override;
  void update(const std::string& table, std::span<const TaskRecord> rows, TimePoint now) override;
  void remove(const std::string& table, std::span<const TaskId> ids) override;
  void mark_requeued(const std::string& history, std::span<const sql::Requeued> requeued) override;

  // reads.cpp
  sql::DuePage load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) override;
  std::vector<sql::DueRow> due(const std::string& table, const sql::DueQuery& query) override;
  std::vector<TaskRecord> find(const std::string& table, bool history, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> page(const sql::Search& search) override;
  std::int64_t count(const sql::Search& search) override;

 private:
  template <class Insert>
  std::invoke_result_t<Insert, Duplicates> expect_new(std::size_t rows, Insert insert) {
    return new_keys_ ? new_keys_->expect(rows, insert) : insert(Duplicates::are_left_out);
  }

  Connection db_;
  PostgresLedger ledger_{db_, sums_};
  PostgresSchema schema_{db_};
  const std::shared_ptr<NewKeys> new_keys_;  // null on a borrowed connection: its transaction must not fail
};

// The conditions of a list or a count: " AND …". Their values are added to `params`.
std::string conditions(const sql::Search& search, Params& params);

}  // namespace easyretry::storage::postgres
