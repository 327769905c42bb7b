#pragma once
// Stores on one database of a shared server, with a layout and a clock of the test's own.

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <easyretry/testing.h>

#include "fault/each_server.h"
#include "storage/sql/server_store.h"
#include "support/plain_sql.h"
#include "support/server_session.h"
#include "support/task_builder.h"
#include "support/test_database.h"

namespace easyretry::storage {

using namespace std::chrono_literals;
using fault::kind_name;
using test::a_task;
using test::ServerKind;

constexpr TimePoint day(int year, int month, int day) {
  return TimePoint{std::chrono::sys_days{std::chrono::year{year} / month / day}};
}

class ServerStores : public fault::OnEachServer {
 protected:
  sql::ServerOptions options(Layout layout, Millis window, int port) {
    return {.kind = "server",
            .url = database.name(),
            .connect = [=, this] { return connect_session(GetParam(), database.name(), port); },
            .layout = layout,
            .window = window,
            .look_at_shards_every = 24h,
            .clock = &clock};
  }
  std::unique_ptr<Store> open(Layout layout, Millis window, int port) {
    return sql::open_server_store(options(layout, window, port));
  }
  std::unique_ptr<Store> open(Layout layout, Millis window = std::chrono::days{30}) {
    return open(layout, window, test::shared_server_port(GetParam()));
  }

  static Inserted insert(Store& store, const task::NewTask& task) {
    return store.insert({&task, 1}).value().tasks.at(0);
  }
  static std::optional<TaskRecord> find(Store& store, TaskId id) {
    const auto found = store.find({&id, 1}).value();
    return found.empty() ? std::nullopt : std::optional{found.front()};
  }
  static std::vector<TaskId> ids(Store& store) {
    TaskQuery query;
    query.limit = 100'000;
    const auto records = store.list(query).value();
    std::vector<TaskId> ids;
    for (const TaskRecord& record : records) ids.push_back(record.info.id);
    return ids;
  }
  static std::vector<Ticket> loaded(Store& store) {
    std::vector<ShardCursor> all;
    const int shards = store.info().total_shards;
    for (int shard = 0; shard < shards; ++shard) all.push_back({.shard = ShardId{static_cast<std::uint16_t>(shard)}});
    const auto reply = store.load({.name_space = test::kNamespace, .from = all}).value();
    std::vector<Ticket> tickets;
    for (const DueTask& task : reply.tasks) tickets.push_back(task);
    return tickets;
  }
  static std::vector<TaskId> due(Store& store) {
    std::vector<TaskId> ids;
    for (const Ticket& ticket : loaded(store)) ids.push_back(ticket.id);
    return ids;
  }
  static Ticket claim(Store& store, const Inserted& task, Millis lease) {
    const Ticket ticket{task.id, task.version};
    const auto won = store.claim({{&ticket, 1}, "worker", lease}).value().won;
    return won.empty() ? Ticket{} : Ticket{won[0].info.id, won[0].info.version};
  }
  static bool finish(Store& store, const Ticket& ticket) {
    Settlement settlement;
    settlement.ticket = ticket;
    return store.settle({&settlement, 1}).value().applied.at(0);
  }
  int rows(const std::string& table) { return std::stoi(sql->run("SELECT count(*) FROM " + table)); }

  easyretry::testing::ManualClock clock{day(2025, 1, 15)};
  const test::TestDatabase database{GetParam()};
  const std::unique_ptr<test::PlainSql> sql =
      test::connect_plainly(GetParam(), test::shared_server_port(GetParam()), database.name());
};

}  // namespace easyretry::storage
