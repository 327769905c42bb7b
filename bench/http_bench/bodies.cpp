#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "http_bench/client.h"

namespace easyretry::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr double kMostMillis = 50;
constexpr std::size_t kAlone = 2000;  // requests without other load
constexpr auto kBetween = 1ms;
// The second is the longest that is accepted. Arguments of more than 1 MiB are refused, but only after they are parsed.
constexpr std::array<std::size_t, 2> kSizes{1'000'000, 8'388'608};

// `begin`, as many pieces as fit, `end`; `size` bytes at most. `piece` gets the number of the piece.
template <class Piece>
std::string filled(std::size_t size, std::string_view begin, const Piece& piece, std::string_view end) {
  std::string text{begin};
  for (std::size_t i = 0;; ++i) {
    const std::string next = piece(i);
    if (text.size() + next.size() + end.size() > size) break;
    text += next;
  }
  return text.append(end);
}

std::string array_of(std::size_t size, const std::string& item) {
  return filled(
      size, R"({"handler":"bench.body","args":[)", [&](std::size_t i) { return i == 0 ? item : "," + item; }, "]}");
}

std::string string_of(std::size_t size, const std::string& piece) {
  return filled(
      size, R"({"handler":"bench.body","args":[")", [&](std::size_t) { return piece; }, R"("]})");
}

// `key` gives the key with this number.
template <class Key>
std::string object_of(std::size_t size, const Key& key) {
  return filled(
      size, R"({"handler":"bench.body","args":[{)",
      [&](std::size_t i) { return fmt::format(R"({}"{}":1)", i == 0 ? "" : ",", key(i)); }, "}]}");
}

std::string scattered(std::size_t number) {
  return fmt::format("{:07}", number * 7'919'993 % 9'999'991);
}

struct Kind {
  const char* name;
  std::string (*body)(std::size_t size);
};

// The kinds of tests/e2e/body_time_test.py that cost most.
constexpr std::array kKinds{
    Kind{"integers of 20 digits", [](std::size_t size) { return array_of(size, "18446744073709551615"); }},
    Kind{"integers that do not fit", [](std::size_t size) { return array_of(size, "99999999999999999999"); }},
    Kind{"one long integer", [](std::size_t size) { return array_of(size, std::string(size - 64, '7')); }},
    Kind{"exponents", [](std::size_t size) { return array_of(size, "1e308,1e-400,4.9e-324"); }},
    Kind{"escapes", [](std::size_t size) { return string_of(size, R"(\ud83d\ude00\u0001\n)"); }},
    Kind{"deep arrays", [](std::size_t size) { return array_of(size, std::string(60, '[') + std::string(60, ']')); }},
    Kind{"keys in no order", [](std::size_t size) { return object_of(size, scattered); }},
    Kind{"long keys that begin alike",
         [](std::size_t size) {
           return object_of(size, [](std::size_t i) { return std::string(500, 'p') + scattered(i); });
         }},
    Kind{"one key many times", [](std::size_t size) { return object_of(size, [](std::size_t) { return "a"; }); }},
    Kind{"small values", [](std::size_t size) { return array_of(size, R"([],[1],{},{"":1},"")"); }},
    Kind{"many tasks",
         [](std::size_t size) {
           return filled(
               size, R"({"tasks":[)",
               [](std::size_t i) {
                 return fmt::format(R"({}{{"handler":"bench.body","key":"{}","delay_ms":3600000}})", i == 0 ? "" : ",",
                                    i);
               },
               "]}");
         }},
};

class Health {
 public:
  explicit Health(const Daemon& daemon) : client_(daemon) {}

  void ask(std::vector<double>& millis) {
    const auto began = Clock::now();
    client_.get("/healthz");
    millis.push_back(std::chrono::duration<double, std::milli>(Clock::now() - began).count());
    std::this_thread::sleep_for(kBetween);
  }

 private:
  Client client_;
};

// How long /healthz takes while each sender sends the body several times, one after the other.
std::vector<double> during(const Daemon& daemon, Health& health, const std::string& body, const BodyOptions& options) {
  std::atomic<std::size_t> sending{options.senders};
  std::vector<double> millis;
  std::vector<std::jthread> senders;
  for (std::size_t i = 0; i < options.senders; ++i) {
    senders.emplace_back([&] {
      Client client{daemon};
      for (std::size_t n = 0; n < options.rounds; ++n) client.post_status("/v1/tasks", body);
      --sending;
    });
  }
  while (sending > 0) health.ask(millis);
  return millis;
}

}  // namespace

Measured measure_bodies(const Setting& setting, const BodyOptions& options) {
  const Daemon daemon{setting, "sqlite:retry.db"};
  Health health{daemon};
  std::vector<double> alone;
  while (alone.size() < kAlone) health.ask(alone);
  std::vector<double> all;
  const char* slowest = "";
  double slowest_p99 = 0;
  for (const std::size_t size : kSizes) {
    for (const Kind& kind : kKinds) {
      setting.progress(fmt::format("{}, {} bytes", kind.name, size));
      const auto millis = during(daemon, health, kind.body(size), options);
      all.insert(all.end(), millis.begin(), millis.end());
      const double p99 = spread_of(millis).p99;
      if (p99 <= slowest_p99) continue;
      slowest_p99 = p99;
      slowest = kind.name;
    }
  }
  const Spread quiet = spread_of(alone);
  const Spread loaded = spread_of(all);
  return {.part = "bodies",
          .figures = {{"alone_p50_ms", "/healthz without other load, p50", quiet.p50, "ms"},
                      {"alone_p99_ms", "  p99", quiet.p99, "ms"},
                      {"requests", "requests to /healthz during long bodies", static_cast<double>(all.size())},
                      {"p50_ms", "  p50", loaded.p50, "ms"},
                      {"max_ms", "  slowest", loaded.max, "ms"},
                      {"worst_kind_p99_ms", fmt::format("  p99 of the worst kind: {}", slowest), slowest_p99, "ms"}},
          .goals = {{"p99_ms", "/healthz during long bodies, p99, ms", loaded.p99, kMostMillis}}};
}

}  // namespace easyretry::bench
