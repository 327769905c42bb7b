#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "storage/history.h"
#include "unit/storage/routing.h"

namespace easyretry::storage {
namespace {

using namespace std::chrono;

std::vector<ShardId> all_shards(const TableRouter& router) {
  std::vector<ShardId> shards;
  for (int number = 0; number < router.total_shards(); ++number) shards.push_back(shard(number));
  return shards;
}

Layout any_layout() {
  const int tables = *rc::gen::element(1, 2, 4, 8, 16, 32, 64);
  const auto length =
      *rc::gen::element(PeriodLength::month, PeriodLength::half_month, PeriodLength::week, PeriodLength::day);
  return *rc::gen::element(Layout::single(), Layout::hash(tables), Layout::period(length, tables));
}

TableRouter any_router() {
  return {any_layout(), kShards, days{*rc::gen::inRange(1, 100)}};
}

// The years that ids can carry.
TimePoint any_time() {
  return TimePoint{
      Millis{*rc::gen::inRange(on(2020, 1, 1).time_since_epoch().count(), on(2089, 1, 1).time_since_epoch().count())}};
}

RC_GTEST_PROP(Routing, NamesAreReadBack, ()) {
  const TableRouter router = any_router();
  const TableId table = router.table_of(any_time(), shard(*rc::gen::inRange(0, kShards)));
  RC_ASSERT(router.parse(router.name(table)) == table);
  RC_ASSERT(!router.parse(history_table(any_time())));
}

RC_GTEST_PROP(Routing, AnIdAloneLeadsToItsTable, ()) {
  const TableRouter router = any_router();
  const TimePoint created = any_time();
  const int number = *rc::gen::inRange(0, kShards);
  RC_ASSERT(router.table_of(id_of(created, number)) == router.table_of(created, shard(number)));
}

RC_GTEST_PROP(Routing, AScanReadsEveryTableOnceAndEveryShardOnceAPeriod, ()) {
  const TableRouter router = any_router();
  std::set<TableId> tables;
  std::set<std::pair<int, ShardId>> shards;
  for (const ShardsOfTable& part : tables_for(router, all_shards(router), any_time())) {
    RC_ASSERT((tables.empty() || *tables.rbegin() < part.table));
    tables.insert(part.table);
    for (const ShardId one : part.shards) RC_ASSERT(shards.insert({part.table.period, one}).second);
  }
  std::set<int> periods;
  for (const TableId table : tables) periods.insert(table.period);
  RC_ASSERT(shards.size() == periods.size() * kShards);
}

RC_GTEST_PROP(Routing, AScanReadsWhateverWasWrittenInTheWindow, ()) {
  const TableRouter router = any_router();
  const TimePoint now = any_time();
  const Millis age{*rc::gen::inRange<std::int64_t>(0, router.window().count() + 1)};
  const ShardId one = shard(*rc::gen::inRange(0, kShards));
  const TableId written = router.table_of(now - age, one);
  const auto tables = tables_for(router, {&one, 1}, now);
  RC_ASSERT(std::any_of(tables.begin(), tables.end(), [&](const auto& part) { return part.table == written; }));
}

RC_GTEST_PROP(Routing, ATableIsInUseOrLeavingOrEarly, ()) {
  const TableRouter router = any_router();
  const TimePoint now = any_time();
  const TimePoint created = now + Millis{*rc::gen::inRange<std::int64_t>(-200, 200)} * 86'400'000;
  const TableId table = router.table_of(created, shard(*rc::gen::inRange(0, kShards)));
  const std::string existing = router.name(table);
  const auto in_use = router.all_tables(now);
  const auto times = std::count(in_use.begin(), in_use.end(), table);
  RC_ASSERT(static_cast<std::size_t>(times) + router.leaving({&existing, 1}, now).size() +
                router.early({&existing, 1}, now).size() ==
            1U);
}

// A row lives through random rounds of housekeeping, some long overdue; a reader with a clock a little behind always
// has the row's table among those it looks into, and meets them in the order in which rows move.
RC_GTEST_PROP(Routing, AMovedRowIsFoundWhereverItWent, ()) {
  const TableRouter router = any_router();
  const ShardId one = shard(*rc::gen::inRange(0, kShards));
  const TaskId id = id_of(any_time(), static_cast<int>(one));
  TableId place = router.table_of(id);
  TimePoint now = task::created_at(id);
  for (const int hours_later : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 2000))) {
    now += hours{hours_later};
    const std::string name = router.name(place);
    if (!router.leaving({&name, 1}, now).empty()) place = router.table_of(now, one);
    const TimePoint reader = now - minutes{*rc::gen::inRange(0, 61)};
    std::vector<TableId> looked_into{router.table_of(id)};
    for (const TableId table : router.moved_to(id, reader)) looked_into.push_back(table);
    RC_ASSERT(std::count(looked_into.begin(), looked_into.end(), place) == 1);
    RC_ASSERT(std::is_sorted(looked_into.begin(), looked_into.end()));
  }
}

}  // namespace
}  // namespace easyretry::storage
