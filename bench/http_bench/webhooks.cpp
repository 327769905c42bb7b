#include <algorithm>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "http_bench/client.h"
#include "http_bench/receiver.h"

namespace easyretry::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kTakes = 1s;
constexpr std::size_t kMostPerServer = 1000;  // calls in flight; more of them need more servers
constexpr double kMostThreads = 4;
// Claiming, sending and settling thousands of calls takes CPU time that the receiver needs, too.
constexpr double kMostOfIdeal = 1.5;
constexpr std::size_t kCallsInARequest = 10'000;
constexpr auto kLongestDelivery = 120s;

std::string handler(std::size_t number) {
  return "hook." + std::to_string(number);
}

std::string handlers_config(const std::vector<std::uint16_t>& ports) {
  std::string config = "handlers:\n";
  for (std::size_t i = 0; i < ports.size(); ++i) {
    config += fmt::format("  {}: {{url: 'http://127.0.0.1:{}/', secrets_file: hook.secrets, concurrency: {}}}\n",
                          handler(i), ports[i], kMostPerServer);
  }
  return config;
}

// All tasks are due at the same moment, so that only the calls are measured.
void store_tasks(Client& client, std::size_t count, std::size_t handlers, TimePoint due) {
  for (std::size_t from = 0; from < count; from += kCallsInARequest) {
    auto tasks = nlohmann::json::array();
    for (std::size_t i = from; i < std::min(count, from + kCallsInARequest); ++i) {
      tasks.push_back(
          {{"handler", handler(i % handlers)}, {"args", {{{"number", i}}}}, {"due_at", base::to_text(due)}});
    }
    client.post("/v1/tasks", nlohmann::json{{"tasks", tasks}}.dump());
  }
}

std::size_t succeeded(Client& client) {
  std::size_t all = 0;
  const auto answer = nlohmann::json::parse(client.get("/v1/handlers"));
  for (const auto& one : answer["handlers"]) {
    all += one["ended"].value("succeeded", std::size_t{0});
  }
  return all;
}

bool of_webhooks(const std::string& thread) {
  return thread == "er-webhook" || thread == "er-names";
}

}  // namespace

Measured measure_webhooks(const Setting& setting, const WebhookOptions& options) {
  const std::size_t calls = options.at_once * options.waves;
  const std::size_t servers = (options.at_once + kMostPerServer - 1) / kMostPerServer;
  const Receiver receiver{servers, kTakes};
  std::ofstream{setting.folder / "hook.secrets"} << "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n";
  const Daemon daemon{setting, "sqlite:retry.db", ", may_call: ['127.0.0.1']", handlers_config(receiver.ports())};
  Client client{daemon};
  const auto due = std::chrono::ceil<Millis>(std::chrono::system_clock::now()) + 5s;
  setting.progress("storing");
  store_tasks(client, calls, servers, due);
  if (std::chrono::system_clock::now() > due) throw std::runtime_error("storing took longer than it was to");
  std::this_thread::sleep_until(due);
  setting.progress("calling");
  std::size_t threads = 0;
  std::size_t all_threads = 0;
  while (succeeded(client) < calls) {
    if (std::chrono::system_clock::now() > due + kLongestDelivery) throw std::runtime_error("some calls never succeed");
    const auto names = daemon.thread_names();
    threads = std::max<std::size_t>(threads, std::ranges::count_if(names, of_webhooks));
    all_threads = std::max(all_threads, names.size());
    std::this_thread::sleep_for(20ms);
  }
  const double took = std::chrono::duration<double>(std::chrono::system_clock::now() - due).count();
  const double ideal = std::chrono::duration<double>(kTakes).count() * static_cast<double>(options.waves);
  return {.part = "webhooks",
          .figures = {{"calls", "calls of a second each", static_cast<double>(calls)},
                      {"seconds", "all of them done after", took, "s"},
                      {"daemon_threads", "threads of the whole daemon", static_cast<double>(all_threads)},
                      {"memory_mib", "memory of the daemon", daemon.resident_mib(), "MiB"}},
          .goals = {{"at_once", "calls at a time", static_cast<double>(receiver.most_at_once()),
                     static_cast<double>(options.at_once), true},
                    {"threads", "threads that make them", static_cast<double>(threads), kMostThreads},
                    {"of_ideal", "time, times the ideal one", took / ideal, kMostOfIdeal}}};
}

}  // namespace easyretry::bench
