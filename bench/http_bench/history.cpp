#include "http_bench/history.h"

#include <algorithm>
#include <deque>
#include <stdexcept>

#include <easyretry/testing.h>

#include "base/result.h"
#include "storage/open.h"

namespace easyretry::bench {
namespace {

using storage::Store;
using task::NewTask;
using task::Settlement;
using task::Ticket;

constexpr std::size_t kBatch = 1000;
constexpr std::size_t kLive = 10'000;
// One in this many tasks ends only after this many batches, so that ids are not in the order in which tasks end.
constexpr std::size_t kLateEvery = 100;
constexpr std::size_t kLateBy = 200;

template <class T, class E>
T must(tl::expected<T, E> result) {
  if (!result) throw StoreError(std::move(result.error()));
  return std::move(*result);
}

Outcome outcome_of(std::size_t number) {
  if (number % Past::kSeldom == 7) return Outcome::quarantined;
  if (number % 1000 == 13) return Outcome::rejected;
  if (number % 200 == 33) return Outcome::cancelled;
  if (number % 50 == 21) return Outcome::exhausted;
  return Outcome::succeeded;
}

NewTask task_of(const Past& past, std::size_t number) {
  NewTask task;
  task.name_space = "default";
  task.handler = number % Past::kSeldom == 77 ? Past::rare_handler() : Past::handler(number);
  task.key = Past::key(number);
  task.business_type = "order";
  task.business_id = past.business_id(number);
  task.payload = R"([{"amount":9.99,"customer":"customer@example.com, 221B Baker Street, London","number":1}])";
  task.rules.max_attempts = 16;
  return task;
}

struct Birth {
  Ticket ticket;
  std::size_t number;
};

class Filling {
 public:
  Filling(const std::filesystem::path& file, const Past& past)
      : past_(past),
        clock_(past.begins),
        store_(storage::open_store("sqlite:" + file.string() + "?synchronous=normal", clock_)) {}

  void run(const Progress& progress) {
    const Millis step{Millis{Past::kLength} * static_cast<std::int64_t>(kBatch) /
                      static_cast<std::int64_t>(past_.rows)};
    for (std::size_t from = 0; from < past_.rows; from += kBatch) {
      if (from % (past_.rows / 10) < kBatch)
        progress("history: " + std::to_string(from) + " of " + std::to_string(past_.rows));
      clock_.advance(step);
      end(born(from, std::min(past_.rows, from + kBatch)));
    }
    while (!late_.empty()) end({});
    store_live();
  }

 private:
  // The tasks that end at once; the others wait in late_.
  std::vector<Birth> born(std::size_t from, std::size_t to) {
    std::vector<NewTask> tasks;
    for (std::size_t i = from; i < to; ++i) tasks.push_back(task_of(past_, i));
    const auto inserted = must(store_->insert(tasks)).tasks;
    std::vector<Birth> at_once;
    late_.emplace_back();
    for (std::size_t i = from; i < to; ++i) {
      const auto& one = inserted[i - from];
      (i % kLateEvery == 0 ? late_.back() : at_once).push_back({{one.id, one.version}, i});
    }
    return at_once;
  }

  void end(std::vector<Birth> births) {
    if (late_.size() > kLateBy || births.empty()) {
      births.insert(births.end(), late_.front().begin(), late_.front().end());
      late_.pop_front();
    }
    std::vector<Ticket> tickets;
    std::vector<Settlement> ends;
    for (const Birth& birth : births) {
      tickets.push_back(birth.ticket);
      Settlement& settlement = ends.emplace_back();
      settlement.ticket = {birth.ticket.id, birth.ticket.version + 1};
      settlement.outcome = outcome_of(birth.number);
      if (settlement.outcome != Outcome::succeeded) settlement.error = "no route to host";
    }
    must(store_->claim({tickets, "bench", std::chrono::seconds{30}}));
    const auto settled = must(store_->settle(ends));
    if (std::ranges::count(settled.applied, false) > 0) throw std::runtime_error("a task did not end");
  }

  void store_live() {
    std::vector<NewTask> tasks;
    for (std::size_t i = 0; i < kLive; ++i) {
      tasks.push_back(task_of(past_, past_.rows + i));
      tasks.back().delay = std::chrono::hours{24};
    }
    must(store_->insert(tasks));
  }

  const Past& past_;
  testing::ManualClock clock_;
  const std::unique_ptr<Store> store_;
  std::deque<std::vector<Birth>> late_;
};

TimePoint begin_of_what_is_there(const std::filesystem::path& file, std::size_t rows) {
  const auto store = storage::open_store("sqlite:" + file.string(), system_clock());
  storage::TaskQuery ended;
  ended.finished = true;
  if (const auto there = must(store->count(ended)); there != static_cast<std::int64_t>(rows)) {
    throw std::runtime_error(file.string() + " has " + std::to_string(there) + " rows of history; say --rows " +
                             std::to_string(there) + ", or name a file that is not there");
  }
  ended.limit = 1;
  return must(store->list(ended)).at(0).info.created_at;
}

}  // namespace

Past make_past(const std::filesystem::path& file, std::size_t rows, const Progress& progress) {
  Past past{.rows = rows, .begins = std::chrono::floor<Millis>(std::chrono::system_clock::now()) - Past::kLength};
  if (std::filesystem::exists(file)) {
    past.begins = begin_of_what_is_there(file, rows);
  } else {
    Filling{file, past}.run(progress);
  }
  return past;
}

}  // namespace easyretry::bench
