#include <algorithm>
#include <chrono>
#include <random>

#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "http_bench/client.h"
#include "http_bench/history.h"

namespace easyretry::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr double kMostMillisForAList = 50;
// Of requests: enough to see that it is slow.
constexpr auto kLongestForAKind = 10s;

class Queries {
 public:
  explicit Queries(const Past& past) : past_(past) {}

  struct Kind {
    std::string name;
    std::function<std::string()> target;  // a different one each time
  };
  std::vector<Kind> all() {
    return {
        {"history", [] { return "/v1/history?"; }},
        {"handler", [this] { return "/v1/history?" + handler(); }},
        {"rare handler", [] { return "/v1/history?handler=" + Past::rare_handler(); }},
        {"unknown handler", [] { return "/v1/history?handler=nobody"; }},
        {"outcome succeeded", [] { return "/v1/history?outcome=succeeded"; }},
        {"outcome exhausted", [] { return "/v1/history?outcome=exhausted"; }},
        {"outcome quarantined", [] { return "/v1/history?outcome=quarantined"; }},
        {"handler and outcome", [this] { return "/v1/history?outcome=rejected&" + handler(); }},
        {"business id", [this] { return "/v1/history?business_id=" + past_.business_id(number()); }},
        {"key", [this] { return "/v1/history?key=" + Past::key(number()); }},
        {"created in an hour", [this] { return "/v1/history?" + range("created", 1h); }},
        {"created in a week", [this] { return "/v1/history?" + range("created", 168h); }},
        {"ended in an hour", [this] { return "/v1/history?" + range("finished", 1h); }},
        {"ended in a day", [this] { return "/v1/history?" + range("finished", 24h); }},
        {"ended in a week", [this] { return "/v1/history?" + range("finished", 168h); }},
        {"handler, ended in a day", [this] { return "/v1/history?" + handler() + "&" + range("finished", 24h); }},
        {"exhausted, ended in a day", [this] { return "/v1/history?outcome=exhausted&" + range("finished", 24h); }},
        {"handler, created in a day", [this] { return "/v1/history?" + handler() + "&" + range("created", 24h); }},
        {"tasks", [] { return "/v1/tasks?"; }},
        {"tasks by handler", [this] { return "/v1/tasks?" + handler(); }},
        {"tasks by rare handler", [] { return "/v1/tasks?handler=" + Past::rare_handler(); }},
        {"tasks by state", [] { return "/v1/tasks?state=running"; }},
        {"tasks by business id", [this] { return "/v1/tasks?business_id=" + past_.business_id(number()); }},
    };
  }

 private:
  std::size_t number() { return random_() % past_.rows; }
  std::string handler() { return "handler=" + Past::handler(random_()); }
  std::string range(const std::string& of, std::chrono::hours length) {
    const auto room = static_cast<std::uint64_t>((Millis{Past::kLength} - length).count());
    const TimePoint from = past_.begins + Millis{random_() % room};
    return of + "_from=" + base::to_text(from) + "&" + of + "_until=" + base::to_text(from + length);
  }

  const Past& past_;
  std::mt19937_64 random_{20'260'301};
};

double timed(Client& client, const std::string& target, std::string& answer) {
  const auto began = Clock::now();
  answer = client.get(target);
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

// The first page, and the pages after it.
std::vector<double> measure(Client& client, const Queries::Kind& kind, std::size_t requests) {
  constexpr std::size_t kPages = 4;
  std::vector<double> millis;
  std::string answer;
  const auto began = Clock::now();
  while (millis.size() < requests && Clock::now() - began < kLongestForAKind) {
    const std::string target = kind.target();
    millis.push_back(timed(client, target, answer));
    for (std::size_t page = 1; page < kPages; ++page) {
      const auto parsed = nlohmann::json::parse(answer);
      if (!parsed.contains("next")) break;
      millis.push_back(timed(client, target + "&after=" + parsed["next"].get<std::string>(), answer));
    }
  }
  return millis;
}

}  // namespace

Measured measure_list(const Setting& setting, const ListOptions& options) {
  const auto file =
      options.history.empty() ? setting.folder / "history.db" : std::filesystem::absolute(options.history);
  const Past past = make_past(file, options.rows, setting.progress);
  const Daemon daemon{setting, "sqlite:" + file.string()};
  Client client{daemon};
  Measured measured{.part = "list"};
  measured.figures.push_back({"rows", "tasks that have ended", static_cast<double>(options.rows)});
  double worst = 0;
  Queries queries{past};
  for (const Queries::Kind& kind : queries.all()) {
    setting.progress(kind.name);
    const Spread spread = spread_of(measure(client, kind, options.requests));
    measured.figures.push_back({kind.name + " p50_ms", kind.name + ", p50", spread.p50, "ms"});
    measured.figures.push_back({kind.name + " p99_ms", kind.name + ", p99", spread.p99, "ms"});
    worst = std::max(worst, spread.p99);
  }
  measured.goals.push_back({"worst_p99_ms", "p99 of the slowest kind, ms", worst, kMostMillisForAList});
  return measured;
}

}  // namespace easyretry::bench
