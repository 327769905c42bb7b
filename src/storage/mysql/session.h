#pragma once
// Tasks in MariaDB 10.6 or MySQL 8: one wide InnoDB row for each, READ COMMITTED. The statements and tables are in
// sql/*.sql. The members are defined in session.cpp (transactions), inserts.cpp, changes.cpp and reads.cpp.

#include <string>
#include <vector>

#include "storage/mysql/connection.h"
#include "storage/mysql/ledger.h"
#include "storage/mysql/schema.h"

namespace easyretry::storage::mysql {

class MysqlSession final : public sql::Session {
 public:
  explicit MysqlSession(const MysqlAddress& address);
  explicit MysqlSession(MYSQL* joined);  // a connection of the application

  bool broken() const override { return connection_.broken(); }

  // InnoDB flushes every commit alike, so the promise makes no difference.
  TimePoint begin(Promise promise) override;
  void commit() override;
  void roll_back() noexcept override { connection_.roll_back(); }
  TimePoint now() override;
  bool in_transaction() override { return connection_.in_transaction(); }
  void run(const std::string& statement) override { connection_.run(statement); }

  std::vector<TaskId> insert(const std::string& table, const std::string& history,
                             std::span<const TaskRecord> rows) override;
  std::vector<sql::LiveKey> live_keys(const std::string& table, std::span<const TaskRecord> keys) override;
  std::vector<TaskId> take_keys(std::span<const TaskRecord> rows) override;
  std::vector<sql::KeyHolder> key_holders(std::span<const TaskRecord> keys) override;
  void insert_history(const std::string& history, std::span<const TaskRecord> rows) override;

  std::vector<TaskRecord> claim(const std::string& table, const ClaimRequest& request, TimePoint now) override;
  std::vector<sql::EndedRow> finish(const std::string& table, const std::string& history,
                                    std::span<const Settlement> settlements, TimePoint now) override;
  std::vector<TaskId> reschedule(const std::string& table, std::span<const Settlement> settlements,
                                 TimePoint now) override;
  std::vector<TaskId> renew(const std::string& table, std::span<const Renewal> renewals, TimePoint now) override;
  void update_rules(const std::string& table, std::span<const sql::NewRules> updates) override;
  void update(const std::string& table, std::span<const TaskRecord> rows, TimePoint now) override;
  void remove(const std::string& table, std::span<const TaskId> ids) override;
  void mark_requeued(const std::string& history, std::span<const sql::Requeued> requeued) override;

  void hold(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskId> hold_free(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> lock(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> lock_history(const std::string& history, std::span<const TaskId> ids) override;
  sql::DuePage load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) override;
  std::vector<sql::DueRow> due(const std::string& table, const sql::DueQuery& query) override;
  std::vector<TaskRecord> find(const std::string& table, bool history, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> page(const sql::Search& search) override;
  std::int64_t count(const sql::Search& search) override;

 private:
  Connection connection_;
  MysqlSchema schema_{connection_};
  MysqlLedger ledger_{connection_, sums()};
};

}  // namespace easyretry::storage::mysql
