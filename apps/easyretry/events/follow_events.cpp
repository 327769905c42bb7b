#include "events/follow_events.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "events/server_sent_events.h"
#include "remote/connection.h"
#include "service/remote_service.h"

namespace easyretry::app {
namespace {

using namespace std::chrono_literals;

constexpr Millis kFirstPause = 500ms;
constexpr Millis kLongestPause = 10s;
constexpr int kUnavailable = 503;  // it is about to stop, or has too many watchers

void pause(Millis length, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, stop, length, [] { return false; });
}

class Following {
 public:
  Following(const remote::DaemonAddress& daemon, const EventFilter& filter, const std::stop_token& stop,
            const std::function<void(const nlohmann::json& event)>& tell,
            const std::function<void(const std::string& warning)>& warn)
      : daemon_(daemon), stop_(stop), warn_(warn), line_(daemon_), events_([&tell](const ServerSentEvent& event) {
          auto data = nlohmann::json::parse(event.data, nullptr, /*allow_exceptions=*/false);
          if (!data.is_object()) return;
          data["kind"] = event.kind;
          tell(data);
        }) {
    ask_.path = {"events"};
    if (!filter.kinds.empty()) ask_.query["kind"] = fmt::format("{}", fmt::join(filter.kinds, ","));
    if (!filter.handlers.empty()) ask_.query["handler"] = fmt::format("{}", fmt::join(filter.handlers, ","));
  }

  void run() {
    Millis wait = kFirstPause;
    while (!stop_.stop_requested()) {
      watching_ = false;
      const std::string why = watch();
      if (stop_.stop_requested()) return;
      if (watching_) {
        lost_ = true;
        warn_(fmt::format("lost the connection to {} ({}); reconnecting to continue where it ended", daemon_.url, why));
        wait = kFirstPause;
      }
      pause(wait, stop_);
      wait = std::min(2 * wait, kLongestPause);
    }
  }

 private:
  // Until the connection ends; says why it did.
  std::string watch() {
    remote::HttpRequest request{.target = target_of(ask_), .stop = stop_, .stream = [this](std::string_view bytes) {
                                  begun();
                                  events_.take(bytes);
                                }};
    if (!events_.last_id().empty()) request.headers.push_back("Last-Event-ID: " + events_.last_id());
    events_.begin_again();
    const auto reply = line_.ask(request);
    if (!reply) return judged(reply.error());
    if (reply->status == 200) return "the daemon closed it";
    if (lost_ && reply->status == kUnavailable) return "it has no free stream";
    answer_of(daemon_, reply->status, reply->body);  // throws
    return "HTTP status " + std::to_string(reply->status);
  }

  std::string judged(const remote::NoAnswer& none) const {
    if (!watching_ && !lost_ && none.kind != remote::NoAnswer::Kind::stopped) {
      throw std::runtime_error(no_answer_text(daemon_, none));
    }
    return none.why;
  }

  void begun() {
    if (!std::exchange(watching_, true) && lost_) warn_("reconnected");
  }

  const remote::DaemonAddress& daemon_;
  const std::stop_token& stop_;
  const std::function<void(const std::string& warning)>& warn_;
  remote::Connection line_;
  ServerSentEvents events_;
  Ask ask_;
  bool watching_ = false;  // over this connection something has come
  bool lost_ = false;      // one was lost
};

}  // namespace

void follow_events(const remote::DaemonAddress& daemon, const EventFilter& filter, const std::stop_token& stop,
                   const std::function<void(const nlohmann::json& event)>& tell,
                   const std::function<void(const std::string& warning)>& warn) {
  Following{daemon, filter, stop, tell, warn}.run();
}

}  // namespace easyretry::app
