#pragma once
// Stores with any number of shards on one database, and what must stay true of their tasks when it changes.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/record_text.h"
#include "storage/sql/maintenance.h"
#include "support/endings.h"
#include "support/refusal.h"
#include "unit/servers/server_stores.h"

namespace easyretry::storage {

inline const std::vector<Layout> kLayouts{Layout::single(), Layout::hash(4), Layout::period(PeriodLength::month, 2)};

class ReshardedStores : public ServerStores {
 protected:
  sql::ServerOptions options_for(Layout layout, int shards) {
    sql::ServerOptions wanted = options(layout, std::chrono::days{30}, test::shared_server_port(GetParam()));
    wanted.total_shards = shards;
    return wanted;
  }
  std::unique_ptr<Store> open(Layout layout, int shards) { return sql::open_server_store(options_for(layout, shards)); }
  // One that looks at the number every time, and not once a second.
  std::unique_ptr<Store> open_watchful(Layout layout, int shards) {
    sql::ServerOptions watchful = options_for(layout, shards);
    watchful.look_at_shards_every = 0ms;
    return sql::open_server_store(watchful);
  }
  ReshardPlan reshard(int shards) { return sql::reshard_server(options_for(Layout::single(), 64), {.shards = shards}); }
  ReshardPlan plan(int shards) {
    return sql::reshard_server(options_for(Layout::single(), 64), {.shards = shards, .only_plan = true});
  }
  std::string refusal(int shards) {
    return test::refusal<std::exception>([&] { reshard(shards); });
  }
  std::string refusal_to_open(Layout layout, int shards) {
    return test::refusal<StoreError>([&] { open(layout, shards); });
  }
  std::string number() { return sql->run("SELECT value FROM retry_meta WHERE name = 'total_shards'"); }
  void set_number(const std::string& text) {
    sql->run("UPDATE retry_meta SET value = '" + text + "' WHERE name = 'total_shards'");
  }
  void start_afresh() {
    for (const std::string& table : connect_session(GetParam(), database.name())->schema().tables()) {
      sql->run("DROP TABLE " + table);
    }
  }

  static std::vector<NewTask> many(int count) {
    std::vector<NewTask> tasks;
    for (int i = 0; i < count; ++i) tasks.push_back(a_task());
    return tasks;
  }
  // Of every state that a task can be in; what was leased is not leased any more.
  void store_every_state(Store& store) {
    ASSERT_TRUE(store.insert(many(150)));
    for (int i = 0; i < 20; ++i) {
      insert(store, a_task().due_in(1h));
      insert(store, a_task().business("order", "order-" + std::to_string(i)));
      ASSERT_TRUE(finish(store, claim(store, insert(store, a_task()), 1min)));
      const TaskId told = insert(store, a_task()).id;
      ASSERT_TRUE(store.end(test::endings({&told, 1}, {.tell = true})).value().applied.at(0));
      ASSERT_NE(claim(store, insert(store, a_task()), 1min), Ticket{});
    }
    clock.advance(2min);
  }
  static std::map<TaskId, std::string> records(Store& store) {
    std::map<TaskId, std::string> texts;
    for (const bool finished : {false, true}) {
      TaskQuery query;
      query.limit = 100'000;
      query.finished = finished;
      const auto page = store.list(query).value();
      for (const TaskRecord& record : page) texts[record.info.id] = test::record_text(record);
    }
    return texts;
  }
  // Each is found by its id as it was, and by its key where it is live.
  static void expect_found(Store& store, const std::map<TaskId, std::string>& expected) {
    for (const auto& [id, text] : expected) {
      const auto record = find(store, id);
      ASSERT_TRUE(record) << static_cast<std::int64_t>(id);
      EXPECT_EQ(test::record_text(*record), text);
      if (record->info.state == TaskState::finished) continue;
      const Inserted again = insert(store, a_task().key(record->info.key).business("", record->info.business_id));
      EXPECT_EQ(again.id, id);
      EXPECT_FALSE(again.created);
    }
  }
  static std::multiset<TaskId> sorted(const std::vector<TaskId>& ids) { return {ids.begin(), ids.end()}; }

  // Rows whose shard, lane or table is not what their ids say.
  int misnumbered(Layout layout, int shards) {
    const TableRouter router{layout, shards};
    int wrong = 0;
    for (const std::string& table : connect_session(GetParam(), database.name())->schema().tables()) {
      const auto id = router.parse(table);
      if (!id) continue;
      const std::string shard = "((id >> 10) & 4095) % " + std::to_string(shards);
      const std::string lane = GetParam() == ServerKind::postgres ? " OR lane & 4095 <> shard" : "";
      wrong += std::stoi(sql->run("SELECT count(*) FROM " + table + " WHERE shard <> " + shard + lane + " OR shard % " +
                                  std::to_string(layout.tables()) + " <> " + std::to_string(id->suffix)));
    }
    return wrong;
  }
};

}  // namespace easyretry::storage
