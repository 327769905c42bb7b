#pragma once
// Each test has a database of its own, sessions in it, and a plain connection to the same tables.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/mysql/address.h"
#include "storage/server/server_error.h"
#include "storage/sql/maintenance.h"
#include "support/plain_sql.h"
#include "support/task_builder.h"
#include "support/test_database.h"
#include "task/task_id.h"
#include "task/transitions.h"

namespace easyretry::storage::mysql {

using namespace std::chrono_literals;
using server::Trouble;
using test::a_task;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

inline constexpr const char* kTable = "retry_task";
inline constexpr const char* kHistory = "retry_task_history_202603";
inline constexpr TimePoint kMarch{std::chrono::sys_days{std::chrono::year{2026} / 3 / 10}};

// The ServerError that `work` throws.
template <class Work>
std::pair<Trouble, std::string> trouble(Work work) {
  try {
    work();
  } catch (const server::ServerError& error) {
    return {error.trouble(), error.what()};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline MysqlAddress address_at(int port, const std::string& database = "easyretry") {
  MysqlAddress address;
  address.port = port;
  address.user = "easyretry";
  address.password = "secret";
  address.database = database;
  return address;
}

inline Settlement settlement_of(const Ticket& ticket, Settlement::Kind kind, std::string error = {}) {
  Settlement settlement;
  settlement.ticket = ticket;
  settlement.kind = kind;
  settlement.error = std::move(error);
  return settlement;
}

inline Ticket ticket_of(const TaskRecord& record) {
  return {record.info.id, record.info.version};
}

class MysqlTest : public ::testing::Test {
 protected:
  MysqlTest() {
    session->schema().create_tasks(kTable, sql::UniqueKeys::in_task_table);
    session->schema().create_history(kHistory);
    sql::migrate(session->schema(), session->schema().version());
  }

  MysqlAddress address() const {
    return address_at(test::shared_server_port(test::ServerKind::mariadb), database.name());
  }
  std::unique_ptr<sql::Session> connect() const { return connect_mysql(address()); }
  // On a connection that is not ours, as from a shell or a script.
  std::string by_hand(const std::string& statement) {
    return test::connect_plainly(test::ServerKind::mariadb, address().port, database.name())->run(statement);
  }

  // Runs body() in a transaction of the session.
  template <class Body>
  auto in_transaction(sql::Session& one, Body body) {
    one.begin(Promise::kept);
    try {
      if constexpr (std::is_void_v<decltype(body())>) {
        body();
        one.commit();
      } else {
        auto answer = body();
        one.commit();
        return answer;
      }
    } catch (...) {
      one.roll_back();
      throw;
    }
  }
  template <class Body>
  auto in_transaction(Body body) {
    return in_transaction(*session, body);
  }

  TaskRecord row(const task::NewTask& task, ShardId shard = ShardId{3}) {
    return task::new_record(task, ids_.next(kMarch, shard), kMarch);
  }
  std::vector<TaskId> insert(const std::vector<TaskRecord>& rows) {
    return in_transaction([&] { return session->insert(kTable, {}, rows); });
  }
  TaskRecord inserted(const task::NewTask& task, ShardId shard = ShardId{3}) {
    const TaskRecord record = row(task, shard);
    EXPECT_THAT(insert({record}), ElementsAre(record.info.id));
    return record;
  }
  std::vector<TaskRecord> claim(sql::Session& one, const std::vector<Ticket>& tickets, TimePoint now = kMarch,
                                std::string_view owner = "worker") {
    return in_transaction(one, [&] { return one.claim(kTable, {tickets, owner, 30s}, now); });
  }
  TaskRecord claimed(const task::NewTask& task) { return claim(*session, {ticket_of(inserted(task))}).at(0); }
  static std::vector<TaskId> ended_ids(const std::vector<sql::EndedRow>& rows) {
    std::vector<TaskId> ids;
    for (const sql::EndedRow& row : rows) ids.push_back(row.id);
    return ids;
  }
  std::vector<TaskId> finish(const Settlement& settlement, TimePoint now = kMarch) {
    return ended_ids(in_transaction([&] { return session->finish(kTable, kHistory, {&settlement, 1}, now); }));
  }
  std::vector<TaskId> reschedule(const std::vector<Settlement>& settlements, TimePoint now = kMarch) {
    return in_transaction([&] { return session->reschedule(kTable, settlements, now); });
  }
  // Empty if there is none.
  std::vector<TaskRecord> live(TaskId id) { return session->find(kTable, false, {&id, 1}); }
  std::vector<TaskRecord> ended(TaskId id) { return session->find(kHistory, true, {&id, 1}); }
  std::int64_t live_count() { return session->count({TaskQuery{}, kTable, false}); }

  test::TestDatabase database{test::ServerKind::mariadb};
  std::unique_ptr<sql::Session> session = connect();

 private:
  task::TaskIdSource ids_{1};
};

}  // namespace easyretry::storage::mysql
