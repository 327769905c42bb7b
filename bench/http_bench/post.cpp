#include <atomic>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include <easyretry/easyretry.h>

#include "http_bench/client.h"
#include "storage/open.h"

namespace easyretry::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr double kLeastOfLibrary = 0.5;
constexpr double kMostCommits = 5;
constexpr std::size_t kCommits = 300;  // per round
constexpr const char* kHandler = "bench.order";
// The tasks are not due, so that only storing is measured.
constexpr auto kLater = 1h;

struct Order {
  std::int64_t number = 0;
  std::string customer;
  double amount = 0;
};
EASYRETRY_JSON(Order, number, customer, amount)

constexpr const char* kCustomer = "customer@example.com, 221B Baker Street, London";

double millis_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

struct Way {
  std::vector<double> rates{};   // per second, one for each round
  std::vector<double> millis{};  // of each task

  void add(std::size_t tasks, double took, const std::vector<double>& each) {
    rates.push_back(1000 * static_cast<double>(tasks) / took);
    millis.insert(millis.end(), each.begin(), each.end());
  }
};

// As many tasks per commit as there are connections: the rate of the store if all of them wait for it.
class Commits {
 public:
  Commits(const std::filesystem::path& folder, std::size_t tasks)
      : store_(storage::open_store("sqlite:" + (folder / "commits.db").string(), system_clock())), rows_(tasks) {
    for (task::NewTask& row : rows_) {
      row.name_space = "default";
      row.handler = kHandler;
      row.payload = fmt::format(R"([{{"amount":9.99,"customer":"{}","number":1000000}}])", kCustomer);
      row.delay = kLater;
    }
  }

  void measure(std::vector<double>& millis) {
    for (std::size_t i = 0; i < kCommits; ++i) {
      for (task::NewTask& row : rows_) row.key = fmt::format("{}:{:032x}", kHandler, 0x9e3779b97f4a7c15 * ++number_);
      const auto began = Clock::now();
      if (auto reply = store_->insert(rows_); !reply) throw StoreError(std::move(reply.error()));
      millis.push_back(millis_since(began));
    }
  }

 private:
  const std::unique_ptr<storage::Store> store_;
  std::vector<task::NewTask> rows_;
  std::uint64_t number_ = 0;
};

class Library {
 public:
  explicit Library(const std::filesystem::path& folder) : engine_("sqlite:" + (folder / "library.db").string()) {
    engine_.start();
  }

  void measure(const PostOptions& options, Way& way) {
    std::atomic<std::size_t> next{0};
    std::vector<std::vector<double>> millis(options.connections);
    const auto began = Clock::now();
    {
      std::vector<std::jthread> threads;
      for (std::vector<double>& own : millis) {
        threads.emplace_back([&] {
          while (next++ < options.tasks) {
            const auto asked = Clock::now();
            submit_.submit_after(kLater, Order{++number_, kCustomer, 9.99});
            own.push_back(millis_since(asked));
          }
        });
      }
    }
    const double took = millis_since(began);
    std::vector<double> all;
    for (const auto& own : millis) all.insert(all.end(), own.begin(), own.end());
    way.add(options.tasks, took, all);
  }

 private:
  Engine engine_;
  Retryable<void, std::tuple<Order>> submit_ = engine_.retryable(kHandler, [](const Order&) {});
  std::atomic<std::int64_t> number_{0};
};

class Posting {
 public:
  Posting(const Daemon& daemon, std::size_t connections) : daemon_(daemon), connections_(daemon, connections) {}

  void measure(const PostOptions& options, Way& way) {
    const auto began = Clock::now();
    const auto millis = connections_.exchange(options.tasks, [&](std::size_t) {
      const auto delay = std::chrono::milliseconds{kLater}.count();
      return request_text(
          daemon_, "POST /v1/tasks",
          fmt::format(R"({{"handler":"{}","delay_ms":{},"args":[{{"number":{},"customer":"{}","amount":9.99}}]}})",
                      kHandler, delay, ++number_, kCustomer));
    });
    way.add(options.tasks, millis_since(began), millis);
  }

 private:
  const Daemon& daemon_;
  Connections connections_;
  std::int64_t number_ = 0;
};

}  // namespace

Measured measure_post(const Setting& setting, const PostOptions& options) {
  const Daemon daemon{setting, "sqlite:retry.db"};
  Posting posting{daemon, options.connections};
  Library library{setting.folder};
  Commits commits{setting.folder, options.connections};
  Way http;
  Way direct;
  std::vector<double> commit;
  std::vector<double> ratios;
  for (int round = 0; round < options.rounds; ++round) {
    setting.progress("round " + std::to_string(round + 1));
    commits.measure(commit);
    library.measure(options, direct);
    posting.measure(options, http);
    ratios.push_back(http.rates.back() / direct.rates.back());
  }
  const Spread of_library = spread_of(direct.millis);
  const Spread of_http = spread_of(http.millis);
  const double of_commit = median_of(commit);
  return {.part = "post",
          .figures = {{"rate_per_s", "POST /v1/tasks, median of the rounds", median_of(http.rates), "/s"},
                      {"p50_ms", "  p50", of_http.p50, "ms"},
                      {"p99_ms", "  p99", of_http.p99, "ms"},
                      {"library_rate_per_s", "the library, as many threads", median_of(direct.rates), "/s"},
                      {"library_p50_ms", "  p50", of_library.p50, "ms"},
                      {"library_p99_ms", "  p99", of_library.p99, "ms"},
                      {"commit_ms", "a commit with a task of each, p50", of_commit, "ms"},
                      {"commit_p99_ms", "  p99", spread_of(commit).p99, "ms"}},
          .goals = {{"of_library", "rate, times the library's (median of the rounds)", median_of(ratios),
                     kLeastOfLibrary, true},
                    {"p99_in_commits", "p99, times a commit", of_http.p99 / of_commit, kMostCommits}}};
}

}  // namespace easyretry::bench
