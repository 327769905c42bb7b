// The cost of a wrapped function that succeeds, compared with a direct call in the same run; and its allocations.
// Goals: 25 ns and no allocation for retry_only and never, 2 µs for an expression.
//
//   build/release/bench/call_bench
#include <atomic>
#include <cstdlib>
#include <new>

#include <benchmark/benchmark.h>

#include <easyretry/easyretry.h>

namespace {
std::atomic<std::size_t> allocations{0};
}

// Not inlined. Otherwise the compiler sees a free() and takes it for the end of memory from another operator new.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace easyretry {
namespace {

struct Receipt {
  int code = 0;
  int amount = 0;
  int fee = 0;
  int currency = 0;
  int terminal = 0;
};
EASYRETRY_JSON(Receipt, code, amount, fee, currency, terminal)

// Not inlined, so that the benchmark measures a real call.
[[gnu::noinline]] Receipt pay(int order, double amount) {
  benchmark::DoNotOptimize(order);
  benchmark::DoNotOptimize(amount);
  return {200, order, 1, 2, 3};
}

template <class Call>
void measure(benchmark::State& state, const Call& call) {
  const std::size_t before = allocations;
  for (auto _ : state) benchmark::DoNotOptimize(call());
  state.counters["allocations"] =
      benchmark::Counter(static_cast<double>(allocations - before), benchmark::Counter::kAvgIterations);
}

void direct(benchmark::State& state) {
  measure(state, [] { return pay(7, 1.5); });
}
BENCHMARK(direct);

void wrapped(benchmark::State& state, Persist persist, const SuccessWhen& success_when) {
  Engine engine{"memory:"};
  const auto wrapped = engine.retryable("pay", pay, Policy{.success_when = success_when}, {.persist = persist});
  measure(state, [&] { return wrapped(7, 1.5); });
}
BENCHMARK_CAPTURE(wrapped, retry_only, Persist::retry_only, {});
BENCHMARK_CAPTURE(wrapped, never, Persist::never, {});
BENCHMARK_CAPTURE(wrapped, typed_condition, Persist::retry_only,
                  SuccessWhen{[](const Receipt& receipt) { return receipt.code == 200; }});
BENCHMARK_CAPTURE(wrapped, expression, Persist::retry_only, SuccessWhen{"result.code == 200"});
BENCHMARK_CAPTURE(wrapped, always_in_memory, Persist::always, {});

}  // namespace
}  // namespace easyretry

BENCHMARK_MAIN();
