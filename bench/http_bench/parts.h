#pragma once
// The parts of the benchmark, each with its own `easyretry serve` in an empty folder.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "http_bench/measured.h"

namespace easyretry::bench {

// Says what is going on.
using Progress = std::function<void(std::string_view what)>;

struct Setting {
  std::filesystem::path program;  // easyretry
  std::filesystem::path folder;   // empty at the beginning
  Progress progress;
};

struct PostOptions {
  std::size_t connections = 64;
  std::size_t tasks = 20'000;  // a round, through HTTP, and as many through the library
  int rounds = 3;
};
// POST /v1/tasks over connections that are kept, beside as many threads that submit through the library.
Measured measure_post(const Setting& setting, const PostOptions& options);

// Memory of a daemon with so many connections that have asked once and are silent since.
Measured measure_idle(const Setting& setting, std::size_t connections);

struct WebhookOptions {
  std::size_t at_once = 5000;
  std::size_t waves = 3;  // so many calls in all, times at_once
};
// Calls to handlers that take a second.
Measured measure_webhooks(const Setting& setting, const WebhookOptions& options);

struct ListOptions {
  std::size_t rows = 5'000'000;
  std::filesystem::path history{};  // a file to fill, or that is filled already; empty: one in the folder
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
