#include "events/events_command.h"

#include <csignal>
#include <memory>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "events/event_text.h"
#include "events/follow_events.h"
#include "printing/json_text.h"
#include "service/service_options.h"

namespace easyretry::app {
namespace {

constexpr int kInterrupted = 128;  // and the number of the signal, as shells say

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
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);  // before any thread is made: none of them gets one
    waiting_ = std::thread{[this] { wait(); }};
  }
  ~StopSignals() {
    pthread_kill(waiting_.native_handle(), SIGUSR1);
    waiting_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  int signal() const { return signal_; }  // 0: none came

 private:
  void wait() {
    int signal = 0;
    if (sigwait(&signals_, &signal) != 0 || signal == SIGUSR1) return;
    signal_ = signal;
    stop_.request_stop();
    sigwait(&signals_, &signal);  // until there is nothing left to be stopped
  }

  sigset_t signals_{};
  sigset_t before_{};
  std::stop_source stop_;
  std::atomic<int> signal_{0};
  std::thread waiting_;
};

void print(const nlohmann::json& event, bool as_json, const Terminal& terminal) {
  fmt::print("{}\n", as_json ? json_text(event) : event_line(event, terminal));
  std::fflush(stdout);  // also into a pipe: whoever reads it waits for it
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
  command->add_option("--kind", options->filter.kinds, "Only of this kind: gave_up, attempt_failed, …; can be repeated")
      ->delimiter(',');
  command->add_flag("--json", options->as_json, "One JSON object per line");
  add_daemon_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
