#include <algorithm>
#include <thread>

#include "http_bench/client.h"

namespace easyretry::bench {
namespace {

constexpr double kMostMib = 200;
// The daemon refuses requests that would have to wait behind 2,000 others.
constexpr std::size_t kAtOnce = 500;

}  // namespace

Measured measure_idle(const Setting& setting, std::size_t connections) {
  const Daemon daemon{setting, "sqlite:retry.db"};
  const double alone = daemon.resident_mib();
  // A request that is cheap and needs a token: the daemon keeps fewer connections without a token.
  const std::string request = request_text(daemon, "GET /v1/bulk");
  std::vector<std::unique_ptr<Connections>> all;
  setting.progress("connecting");
  for (std::size_t open = 0; open < connections; open += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, connections - open);
    all.push_back(std::make_unique<Connections>(daemon, count));
    all.back()->exchange(count, [&](std::size_t) { return request; });
  }
  setting.progress("idle");
  std::this_thread::sleep_for(std::chrono::seconds{2});
  const double crowded = daemon.resident_mib();
  setting.progress("asking all of them again");
  for (const auto& group : all) group->exchange(kAtOnce, [&](std::size_t) { return request; });
  return {.part = "idle",
          .figures = {{"connections", "connections, silent after one request", static_cast<double>(connections)},
                      {"alone_mib", "memory without them", alone, "MiB"},
                      {"kib_per_connection", "memory for each",
                       1024 * (crowded - alone) / static_cast<double>(connections), "KiB"}},
          .goals = {{"memory_mib", "memory with them, MiB", crowded, kMostMib}}};
}

}  // namespace easyretry::bench
