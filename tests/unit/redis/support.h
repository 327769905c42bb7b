#pragma once
// Stores in Redis, and plain commands to their server.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/open.h"
#include "storage/redis/redis_store.h"
#include "support/plain_redis.h"
#include "support/refusal.h"
#include "support/task_builder.h"
#include "support/test_database.h"
#include "task/task_key.h"

namespace easyretry::storage {

using namespace std::chrono_literals;
using test::a_task;
using test::DatabaseServer;
using test::PlainRedis;
using test::ServerKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

inline std::string opening_error(const std::string& url) {
  return test::refusal<std::exception>([&] { open_store(url, system_clock()); });
}

inline Result<InsertReply> insert(Store& store, const task::NewTask& task) {
  return store.insert({&task, 1});
}
inline Ticket stored(Store& store, const task::NewTask& task) {
  const auto reply = insert(store, task).value();
  return {reply.tasks[0].id, reply.tasks[0].version};
}
inline std::vector<TaskRecord> claimed(Store& store, const std::vector<Ticket>& tickets) {
  return store.claim({tickets, "worker", 30s}).value().won;
}
inline bool finish(Store& store, const TaskRecord& held, Outcome outcome = Outcome::succeeded) {
  Settlement end;
  end.ticket = {held.info.id, held.info.version};
  end.outcome = outcome;
  return store.settle({&end, 1}).value().applied.at(0);
}
inline std::vector<TaskId> loaded(Store& store) {
  std::vector<ShardCursor> from;
  for (int i = 0; i < store.info().total_shards; ++i) from.push_back({ShardId{static_cast<std::uint16_t>(i)}});
  std::vector<TaskId> ids;
  const auto reply = store.load({.name_space = test::kNamespace, .from = from}).value();
  for (const auto& task : reply.tasks) ids.push_back(task.id);
  return ids;
}
inline std::string id_bytes(TaskId id) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(static_cast<std::int64_t>(id) >> shift));
  return bytes;
}

// A store with shards=2 in a database of its own on the shared server.
class RedisStoreTest : public ::testing::Test {
 protected:
  std::string url(const std::string& options = {}) const { return database.url() + "?shards=2" + options; }
  std::string run(const std::vector<std::string>& command) {
    return PlainRedis{test::shared_server_port(ServerKind::redis), database.name()}.run(command);
  }

  const test::TestDatabase database{ServerKind::redis};
  const std::unique_ptr<Store> store = open_store(url(), system_clock());
};

}  // namespace easyretry::storage
