// The cost of storing a task's arguments: a small order (67 bytes), like most, and one with ten items (396 bytes).
// 0.4 and 1.4 µs to write, 0.6 and 3.4 µs to read: CPU time of build/release/bench/codec_bench, 2.0 GHz Xeon, busy.
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <benchmark/benchmark.h>

#include <easyretry/json.h>

namespace easyretry {
namespace {

struct Item {
  std::string name;
  int count = 0;
};
EASYRETRY_JSON(Item, name, count)

struct Order {
  std::int64_t id = 0;
  std::string customer;
  double amount = 0;
  std::optional<std::string> note{};
  std::vector<Item> items{};
};
EASYRETRY_JSON(Order, id, customer, amount, note, items)

// The arguments of a handler with one parameter: an order with state.range() items.
std::tuple<Order> arguments(const benchmark::State& state) {
  Order order{.id = 42, .customer = "alice@example.com", .amount = 99.5};
  order.items.assign(static_cast<std::size_t>(state.range()), Item{.name = "blue pencil", .count = 3});
  return {order};
}

void order_to_json(benchmark::State& state) {
  const auto order = arguments(state);
  for (auto _ : state) benchmark::DoNotOptimize(to_json(order));
  state.counters["bytes"] = static_cast<double>(to_json(order).size());
}
BENCHMARK(order_to_json)->Arg(0)->Arg(10);

void order_from_json(benchmark::State& state) {
  const std::string text = to_json(arguments(state));
  for (auto _ : state) benchmark::DoNotOptimize(from_json<std::tuple<Order>>(text));
  state.counters["bytes"] = static_cast<double>(text.size());
}
BENCHMARK(order_from_json)->Arg(0)->Arg(10);

}  // namespace
}  // namespace easyretry

BENCHMARK_MAIN();
