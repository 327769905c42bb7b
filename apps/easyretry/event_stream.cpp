#include "event_stream.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "remote/connection.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

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

}  // namespace

void follow_events(const remote::DaemonAddress& daemon, const EventFilter& filter, const std::stop_token& stop,
                   const std::function<void(const nlohmann::json& event)>& on_event,
                   const std::function<void(const std::string& warning)>& warn) {
  EventFollower{daemon, filter, stop, on_event, warn}.run();
}

}  // namespace easyretry::app
