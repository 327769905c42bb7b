// The events of a daemon as they happen.

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "command_line.h"
#include "commands.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "remote/connection.h"
#include "server/event_feed.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

struct EventFilter {
  std::vector<std::string> kinds{};     // empty: all
  std::vector<std::string> handlers{};  // empty: all
};

struct ServerSentEvent {
  std::string kind{};
  std::string data{};
};

// Parses server-sent events from the bytes of a stream, which may be cut anywhere.
class EventParser {
 public:
  using OnEvent = std::function<void(const ServerSentEvent&)>;
  explicit EventParser(OnEvent on_event) : on_event_(std::move(on_event)) {}

  void take(std::string_view bytes);
  // For a new connection: drops the unfinished event, which the daemon sends again.
  void restart();

  // The id of the last complete event: the next connection continues after it.
  const std::string& last_id() const { return last_id_; }

 private:
  void take_line(std::string_view line);
  void end_event();

  const OnEvent on_event_;
  std::string line_;  // received so far
  std::string id_;
  std::string last_id_;
  ServerSentEvent event_;
};

void EventParser::take(std::string_view bytes) {
  for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    line_.append(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();
    take_line(line_);
    line_.clear();
  }
  line_.append(bytes);
}

void EventParser::restart() {
  line_.clear();
  id_ = last_id_;
  event_ = {};
}

void EventParser::take_line(std::string_view line) {
  if (line.empty()) return end_event();
  const auto colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "id") id_ = value;
  if (field == "event") event_.kind = value;
  if (field == "data") event_.data.append(event_.data.empty() ? "" : "\n").append(value);
}

// An event without data only carries an id.
void EventParser::end_event() {
  last_id_ = id_;
  const ServerSentEvent event = std::exchange(event_, {});
  if (!event.data.empty()) on_event_(event);
}

using namespace std::chrono_literals;

constexpr Millis kFirstPause = 500ms;
constexpr Millis kLongestPause = 10s;
constexpr int kUnavailable = 503;  // the daemon is stopping, or has too many event streams

void pause(Millis length, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, stop, length, [] { return false; });
}

// Calls `on_event` for each event of the daemon until `stop` is requested. After a lost connection, tells `warn`,
// connects again and continues after the last event. run() throws ApiError, or std::runtime_error if the first
// connection fails.
class EventFollower {
 public:
  EventFollower(const remote::DaemonAddress& daemon, const EventFilter& filter, const std::stop_token& stop,
                const std::function<void(const nlohmann::json& event)>& on_event,
                const std::function<void(const std::string& warning)>& warn)
      : daemon_(daemon), stop_(stop), warn_(warn), line_(daemon_), events_([&on_event](const ServerSentEvent& event) {
          auto data = nlohmann::json::parse(event.data, nullptr, /*allow_exceptions=*/false);
          if (!data.is_object()) return;
          data["kind"] = event.kind;
          on_event(data);
        }) {
    request_.path = {"events"};
    if (!filter.kinds.empty()) request_.query["kind"] = fmt::format("{}", fmt::join(filter.kinds, ","));
    if (!filter.handlers.empty()) request_.query["handler"] = fmt::format("{}", fmt::join(filter.handlers, ","));
  }

  void run() {
    Millis wait = kFirstPause;
    while (!stop_.stop_requested()) {
      receiving_ = false;
      const std::string why = watch();
      if (stop_.stop_requested()) return;
      if (receiving_) {
        lost_ = true;
        warn_(fmt::format("lost the connection to {} ({}); reconnecting to continue where it ended", daemon_.url, why));
        wait = kFirstPause;
      }
      pause(wait, stop_);
      wait = std::min(2 * wait, kLongestPause);
    }
  }

 private:
  // Runs until the connection ends, and returns the reason.
  std::string watch() {
    remote::HttpRequest request{.target = target_of(request_), .stop = stop_, .stream = [this](std::string_view bytes) {
                                  on_first_bytes();
                                  events_.take(bytes);
                                }};
    if (!events_.last_id().empty()) request.headers.push_back("Last-Event-ID: " + events_.last_id());
    events_.restart();
    const auto reply = line_.ask(request);
    if (!reply) return reason_for(reply.error());
    if (reply->status == 200) return "the daemon closed it";
    if (lost_ && reply->status == kUnavailable) return "it has no free stream";
    answer_of(daemon_, reply->status, reply->body);  // throws
    return "HTTP status " + std::to_string(reply->status);
  }

  std::string reason_for(const remote::NoAnswer& none) const {
    if (!receiving_ && !lost_ && none.kind != remote::NoAnswer::Kind::stopped) {
      throw std::runtime_error(no_answer_text(daemon_, none));
    }
    return none.why;
  }

  void on_first_bytes() {
    if (!std::exchange(receiving_, true) && lost_) warn_("reconnected");
  }

  const remote::DaemonAddress& daemon_;
  const std::stop_token& stop_;
  const std::function<void(const std::string& warning)>& warn_;
  remote::Connection line_;
  EventParser events_;
  ApiRequest request_;
  bool receiving_ = false;  // this connection has received something
  bool lost_ = false;       // a connection was lost
};

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

Colour event_colour(const std::string& kind) {
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
                     coloured(terminal, event_colour(kind), fmt::format("{:<{}}", kind, kKindWidth));
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
  const remote::DaemonAddress daemon = daemon_of(options.service);
  const std::stop_token stop = signals.token();
  const std::function on_event = [&](const nlohmann::json& event) { print(event, options.as_json, terminal); };
  const std::function warn = [](const std::string& warning) {
    fmt::print(stderr, "easyretry: {}\n", printable(warning));
  };
  EventFollower{daemon, options.filter, stop, on_event, warn}.run();
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
