#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/bench.h"
#include "bench/measured.h"
#include "storage/open.h"
#include "task/task_key.h"

namespace easyretry::app {
namespace {

using storage::Store;
using task::Settlement;
using task::Ticket;

template <class T, class E>
T must(tl::expected<T, E> result) {
  if (!result) throw StoreError(std::move(result.error()));
  return std::move(*result);
}

class RawLoop {
 public:
  RawLoop(const BenchOptions& options, const Progress& progress)
      : options_(options),
        progress_(progress),
        scratch_(options.store, ".raw"),
        store_(storage::open_store(scratch_.url(), system_clock())) {}

  double insert() {
    double seconds = 0;
    for (std::size_t from = 0; from < options_.tasks; from += options_.batch) {
      const auto rows = make_rows(from, std::min(options_.tasks, from + options_.batch));
      const Stopwatch watch;
      must(store_->insert(rows));
      seconds += watch.seconds();
      report("raw: enqueue", from);
    }
    return static_cast<double>(options_.tasks) / seconds;
  }

  double drain(bool fail_first) {
    const Stopwatch watch;
    std::size_t done = 0;
    for (std::vector<Ticket> tickets = load(); !tickets.empty(); tickets = load()) {
      for (std::size_t from = 0; from < tickets.size(); from += options_.batch) {
        auto batch = std::span{tickets}.subspan(from, std::min(options_.batch, tickets.size() - from));
        std::sort(batch.begin(), batch.end());
        if (fail_first) run(batch, Settlement::Kind::retry);
        run(batch, Settlement::Kind::finish);
        done += batch.size();
        report(fail_first ? "raw: cycle" : "raw: drain", done);
      }
    }
    return watch.per_second(done);
  }

 private:
  std::vector<task::NewTask> make_rows(std::size_t from, std::size_t to) const {
    std::vector<task::NewTask> rows(to - from);
    for (std::size_t i = from; i < to; ++i) {
      task::NewTask& row = rows[i - from];
      row.name_space = options_.name_space;
      row.handler = "bench.noop";
      row.payload = to_json(std::tuple{measured_order(static_cast<std::int64_t>(i))});
      row.key = task::derive_key(row.handler, row.payload);
      row.rules = {16, Millis{0}, std::nullopt, "exponential first=1s factor=2 cap=15m jitter=1s"};
    }
    return rows;
  }

  // One page per shard, as large as the loader's.
  std::vector<Ticket> load() {
    const int shards = store_->info().total_shards;
    std::vector<storage::ShardCursor> from;
    from.reserve(static_cast<std::size_t>(shards));
    for (int shard = 0; shard < shards; ++shard) from.push_back({ShardId{static_cast<std::uint16_t>(shard)}});
    const auto reply = must(store_->load({options_.name_space, from, Millis{0}, options_.batch}));
    std::vector<Ticket> tickets;
    tickets.reserve(reply.tasks.size());
    for (const auto& task : reply.tasks) tickets.push_back(task);
    return tickets;
  }

  // Claims a batch and settles it. Afterwards, the tickets are those for the next claim.
  void run(std::span<Ticket> batch, Settlement::Kind kind) {
    const auto claimed = must(store_->claim({batch, "raw", std::chrono::seconds{30}}));
    settlements_.clear();
    for (Ticket& ticket : batch) {
      ++ticket.version;
      Settlement settlement;
      settlement.ticket = ticket;
      settlement.kind = kind;
      if (kind == Settlement::Kind::retry) settlement.error = "asked to wait";
      settlements_.push_back(std::move(settlement));
      ++ticket.version;
    }
    const auto settled = must(store_->settle(settlements_));
    if (claimed.won.size() != batch.size() || std::count(settled.applied.begin(), settled.applied.end(), false) > 0) {
      throw std::runtime_error("the raw loop lost a compare-and-set that had no competitor");
    }
  }

  void report(std::string_view what, std::size_t done) {
    progress_(what, static_cast<double>(done) / static_cast<double>(options_.tasks));
  }

  const BenchOptions& options_;
  const Progress& progress_;
  const ScratchStore scratch_;
  const std::unique_ptr<Store> store_;
  std::vector<Settlement> settlements_;
};

}  // namespace

Rates measure_raw(const BenchOptions& options, const Progress& progress) {
  RawLoop loop{options, progress};
  Rates rates;
  rates.enqueue_batch = loop.insert();
  rates.drain = loop.drain(false);
  if (options.fail_first) {
    loop.insert();
    rates.cycle = loop.drain(true);
  }
  return rates;
}

}  // namespace easyretry::app
