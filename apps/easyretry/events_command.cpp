#include <array>
#include <chrono>
#include <csignal>
#include <ctime>
#include <memory>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "command_line.h"
#include "commands.h"
#include "event_stream.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "server/event_feed.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

constexpr std::size_t kKindWidth = 15;  // retry_scheduled

// Local time; with the date if it is not today.
std::string clock_text(TimePoint time) {
  const auto local = [](TimePoint when) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm broken{};
    ::localtime_r(&seconds, &broken);
    return broken;
  };
  const std::tm at = local(time);
  const std::tm now = local(std::chrono::floor<Millis>(std::chrono::system_clock::now()));
  const bool today = at.tm_yday == now.tm_yday && at.tm_year == now.tm_year;
  std::array<char, sizeof "2026-03-01 12:00:00"> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), today ? "%H:%M:%S" : "%F %H:%M:%S", &at);
  return {text.data(), size};
}

Colour colour_of(const std::string& kind) {
  if (kind == "succeeded") return Colour::green;
  if (kind == "gave_up" || kind == "quarantined" || kind == "parked" || kind == "gap") return Colour::red;
  if (kind == "attempt_failed" || kind == "callback_failed" || kind == "lease_lost" || kind == "cancelled") {
    return Colour::yellow;
  }
  return Colour::none;
}

void add(std::string& line, const std::string& text) {
  if (!text.empty()) line.append("  ").append(printable(text));
}

void add_task(std::string& line, const nlohmann::json& task) {
  add(line, task.value("handler", ""));
  add(line, task.value("id", ""));
  add(line, task.value("key", ""));
  const auto attempts = task.value("attempts", 0);
  if (attempts > 0) add(line, fmt::format("attempt {}", attempts));
  add(line, task.value("outcome", ""));
  if (task.contains("next_at")) add(line, "next " + clock_text(base::parse_time(task["next_at"].get<std::string>())));
}

// One line for people: time, kind, task and reason.
std::string event_line(const nlohmann::json& event, const Terminal& terminal) {
  const std::string kind = printable(event.value("kind", ""));
  const std::string at = event.value("at", "");
  const TimePoint time =
      at.empty() ? std::chrono::floor<Millis>(std::chrono::system_clock::now()) : base::parse_time(at);
  std::string line = coloured(terminal, Colour::faint, clock_text(time)) + "  " +
                     coloured(terminal, colour_of(kind), fmt::format("{:<{}}", kind, kKindWidth));
  if (event.contains("task")) add_task(line, event["task"]);
  add(line, event.value("table", ""));
  add(line, event.value("message", ""));
  return line;
}

constexpr int kInterrupted = 128;  // plus the number of the signal: the exit status, as in shells

struct EventsOptions {
  ServiceOptions service;
  EventFilter filter;
  bool as_json = false;
};

// Turns SIGINT and SIGTERM into a request to stop, for as long as it lives.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);  // before any thread starts, so that no other thread receives them
    thread_ = std::thread{[this] { wait(); }};
  }
  ~StopSignals() {
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  int signal() const { return signal_; }  // 0: none was received

 private:
  void wait() {
    int signal = 0;
    if (sigwait(&signals_, &signal) != 0 || signal == SIGUSR1) return;
    signal_ = signal;
    stop_.request_stop();
    sigwait(&signals_, &signal);  // until the destructor sends SIGUSR1
  }

  sigset_t signals_{};
  sigset_t before_{};
  std::stop_source stop_;
  std::atomic<int> signal_{0};
  std::thread thread_;
};

void print(const nlohmann::json& event, bool as_json, const Terminal& terminal) {
  fmt::print("{}\n", as_json ? json_text(event) : event_line(event, terminal));
  std::fflush(stdout);  // also into a pipe: its reader waits for each event
}

void run(const EventsOptions& options) {
  const StopSignals signals;
  const Terminal terminal = stdout_terminal();
  follow_events(
      daemon_of(options.service), options.filter, signals.token(),
      [&](const nlohmann::json& event) { print(event, options.as_json, terminal); },
      [](const std::string& warning) { fmt::print(stderr, "easyretry: {}\n", printable(warning)); });
  if (signals.signal() != 0) throw CLI::RuntimeError{kInterrupted + signals.signal()};
}

}  // namespace

void add_events_command(CLI::App& app) {
  auto* command = app.add_subcommand("events", "Shows the events of a daemon as they happen, until Ctrl-C");
  auto options = std::make_shared<EventsOptions>();
  command->add_option("--handler", options->filter.handlers, "Only of this handler; can be repeated");
  auto* kinds = command->add_option("--kind", options->filter.kinds, "Only of this kind; can be repeated");
  suggest(kinds, server::event_kinds())->delimiter(',');
  command->add_flag("--json", options->as_json, "One JSON object per line");
  add_daemon_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
