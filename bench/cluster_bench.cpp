// The cost of a new list of members: one of a thousand has left, and a member finds its shards of 4,096.
//
//   build/release/bench/cluster_bench

#include <benchmark/benchmark.h>

#include "cluster/members.h"
#include "cluster/shares.h"

namespace {

using namespace easyretry;
using namespace std::chrono_literals;

constexpr int kShards = 4096;

std::vector<Member> members(std::int64_t count) {
  std::vector<Member> list;
  for (std::int64_t i = 0; i < count; ++i) list.push_back({.node = "host-" + std::to_string(i) + ":4711:123456789"});
  return list;
}

void BM_Reassign(benchmark::State& state) {
  const auto all = members(state.range(0));
  auto fewer = all;
  fewer.pop_back();
  const auto assignment = state.range(1) == 0 ? Assignment::stride : Assignment::even;
  cluster::Members view{all.front().node};
  Instant now{};
  std::vector<ShardId> shards;
  for (bool one_left = false; auto _ : state) {
    one_left = !one_left;
    view.report(one_left ? fewer : all, now);
    now += 10s;
    if (!view.apply(now)) return state.SkipWithError("the list does not count");
    shards = cluster::shards_of(*view.place(), view.list().size(), {kShards, assignment});
    benchmark::DoNotOptimize(shards.data());
  }
}
BENCHMARK(BM_Reassign)->ArgNames({"members", "even"})->ArgsProduct({{10, 1000}, {0, 1}});

}  // namespace

BENCHMARK_MAIN();
