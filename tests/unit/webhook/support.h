#pragma once
// A handler behind a URL, and the results of calls to it.

#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "http/http_server.h"
#include "support/eventually.h"
#include "webhook/caller.h"

namespace easyretry::webhook {

inline constexpr std::chrono::seconds kPatience{60};  // reached only if the code is broken

// Tests run on loopback.
inline CallerOptions loopback_allowed() {
  return {.guard = Guard{{"127.0.0.0/8", "::1"}}};
}

inline std::future<CallResult> start(Caller& caller, Call call) {
  const auto promise = std::make_shared<std::promise<CallResult>>();
  caller.start(std::move(call), [promise](CallResult heard) { promise->set_value(std::move(heard)); });
  return promise->get_future();
}

inline CallResult get(std::future<CallResult>& future) {
  if (future.wait_for(kPatience) != std::future_status::ready) throw std::runtime_error("nothing was heard");
  return future.get();
}

inline CallResult hear(Caller& caller, Call call) {
  auto future = start(caller, std::move(call));
  return get(future);
}

inline std::string words(const CallResult& heard) {
  return heard ? "answered " + std::to_string(heard->status) : to_string(heard.error());
}

// Answers with `answer` or, if the path is /later, when the test says so.
class HandlerServer {
 public:
  using Answering = std::function<http::Response(const http::Request&)>;

  explicit HandlerServer(Answering answering = {}, http::ServerOptions options = {})
      : answering_(std::move(answering)), server_(options, [this](http::Request request, http::Respond respond) {
          serve(std::move(request), std::move(respond));
        }) {}
  ~HandlerServer() {
    server_.stop(std::chrono::milliseconds{0});
    later_.clear();
  }
  HandlerServer(const HandlerServer&) = delete;
  HandlerServer& operator=(const HandlerServer&) = delete;

  std::string url(const std::string& path = "/", const std::string& host = "127.0.0.1",
                  const std::string& scheme = "http") const {
    return scheme + "://" + host + ":" + std::to_string(server_.port()) + path;
  }
  std::uint16_t port() const { return server_.port(); }
  std::size_t connections() const { return server_.connections(); }

  std::vector<http::Request> requests() const {
    const std::lock_guard lock{mutex_};
    return requests_;
  }
  std::size_t held() const {
    const std::lock_guard lock{mutex_};
    return later_.size();
  }
  [[nodiscard]] bool holds(std::size_t count) const {
    return test::eventually([&] { return held() == count; }, kPatience);
  }
  // Answers all requests that wait.
  void answer(const http::Response& response = {}) {
    std::vector<http::Respond> held;
    {
      const std::lock_guard lock{mutex_};
      held.swap(later_);
    }
    for (const auto& respond : held) respond(response);
  }

 private:
  void serve(http::Request request, http::Respond respond) {
    {
      const std::lock_guard lock{mutex_};
      requests_.push_back(request);
      if (request.target.path == "/later") {
        later_.push_back(std::move(respond));
        return;
      }
    }
    respond(answering_ ? answering_(request) : http::Response{.body = request.body});
  }

  const Answering answering_;
  mutable std::mutex mutex_;
  std::vector<http::Request> requests_;  // guarded by mutex_
  std::vector<http::Respond> later_;     // guarded by mutex_
  http::HttpServer server_;
};

}  // namespace easyretry::webhook
