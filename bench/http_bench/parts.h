#pragma once
// The parts of the benchmark and their results. Each part starts its own daemon: a real `easyretry serve`, in a
// separate folder.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace easyretry::bench {

struct Figure {
  std::string name;  // its key in JSON: "rate_per_s"
  std::string what;  // for people
  double value = 0;
  std::string unit{};
};

struct Goal {
  std::string name;
  std::string what;
  double measured = 0;
  double bound = 0;
  bool at_least = false;  // otherwise at most

  bool met() const { return at_least ? measured >= bound : measured <= bound; }
};

struct Measured {
  std::string part;
  std::vector<Figure> figures{};
  std::vector<Goal> goals{};
};

// Milliseconds.
struct Spread {
  double p50 = 0, p99 = 0, max = 0;
};
Spread spread_of(std::vector<double> millis);  // not empty
double median_of(std::vector<double> values);  // not empty

void print_table(const std::vector<Measured>& all);
void print_json(const std::vector<Measured>& all);
bool all_met(const std::vector<Measured>& all);

// Reports the current step.
using Progress = std::function<void(std::string_view what)>;

struct Setting {
  std::filesystem::path program;  // easyretry
  std::filesystem::path folder;   // empty at the beginning
  Progress progress;
};

struct PostOptions {
  std::size_t connections = 64;
  std::size_t tasks = 20'000;  // per round, by HTTP, and as many through the library
  int rounds = 3;
};
// POST /v1/tasks over kept connections, compared with as many threads that submit through the library.
Measured measure_post(const Setting& setting, const PostOptions& options);

// Memory of a daemon with this many connections that are idle after one request.
Measured measure_idle(const Setting& setting, std::size_t connections);

struct WebhookOptions {
  std::size_t at_once = 5000;
  std::size_t waves = 3;  // there are waves * at_once calls
};
// Calls to handlers that take a second.
Measured measure_webhooks(const Setting& setting, const WebhookOptions& options);

struct ListOptions {
  std::size_t rows = 5'000'000;
  std::filesystem::path history{};  // a file to fill, or one that is already filled; empty: one in the folder
  std::size_t requests = 200;       // of each kind
};
// GET /v1/tasks and /v1/history, by every filter.
Measured measure_list(const Setting& setting, const ListOptions& options);

struct BodyOptions {
  std::size_t senders = 4;
  std::size_t rounds = 3;  // bodies of each kind and size, from each sender
};
// GET /healthz while other connections send the bodies that take longest to parse.
Measured measure_bodies(const Setting& setting, const BodyOptions& options);

}  // namespace easyretry::bench
