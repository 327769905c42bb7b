// The cost of a task's key for a submission: 0.4 µs for 100 bytes of arguments, nearly all of it MD5 (540 MB/s); 7 to
// 15 ns for the shard. CPU time of build/release/bench/task_key_bench, 2.0 GHz Xeon, busy.
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>

#include "task/task_key.h"

namespace easyretry::task {
namespace {

constexpr std::string_view kHandler = "payment.capture";

// Arguments of state.range() bytes; MD5 works in blocks of 64.
void derive_key_of(benchmark::State& state) {
  const std::string arguments(static_cast<std::size_t>(state.range()), 'a');
  for (auto _ : state) benchmark::DoNotOptimize(derive_key(kHandler, arguments));
  state.SetBytesProcessed(state.iterations() * state.range());
}
BENCHMARK(derive_key_of)->Arg(20)->Arg(100)->Arg(1'000)->Arg(10'000);

void shard_by_business_id(benchmark::State& state) {
  const std::string business_id = "order-2024-000042";
  for (auto _ : state) benchmark::DoNotOptimize(shard_for(business_id, "", 1024));
}
BENCHMARK(shard_by_business_id);

void shard_by_key(benchmark::State& state) {
  const std::string key = derive_key(kHandler, "[42]");
  for (auto _ : state) benchmark::DoNotOptimize(shard_for("", key, 1024));
}
BENCHMARK(shard_by_key);

}  // namespace
}  // namespace easyretry::task

BENCHMARK_MAIN();
