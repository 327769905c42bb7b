#include "service/local_service.h"

#include <nlohmann/json.hpp>

#include "server/in_process_api.h"

namespace easyretry::app {
namespace {

constexpr int kFirstFailure = 400;

// There is no instance here that could know of handlers, so nothing is said of that.
void leave_out_who_serves(nlohmann::json& answer) {
  answer.erase("no_handler");
  answer.erase("served");
  for (const char* list : {"tasks", "handlers"}) {
    if (!answer.contains(list)) continue;
    for (nlohmann::json& entry : answer[list]) {
      entry.erase("no_handler");
      entry.erase("served");
    }
  }
}

http::Method method_of(const Ask& ask) {
  switch (ask.method) {
    case Method::get: return http::Method::get;
    case Method::post: return http::Method::post;
    case Method::patch: return http::Method::patch;
  }
  return http::Method::other;
}

class LocalService final : public Service {
 public:
  explicit LocalService(const Config& config) : api_(config) {}

  nlohmann::json ask(const Ask& ask) override {
    const auto target = http::parse_target(target_of(ask));
    if (!target)
      throw std::runtime_error("an id must be a whole number, as returned by submit, and all other text must be UTF-8");
    http::Request request;
    request.id = "command-line";
    request.method = method_of(ask);
    request.target = *target;
    request.body = ask.body;
    request.peer = "command line";
    const http::Response response = api_.ask(std::move(request));
    auto answer = nlohmann::json::parse(response.body);
    if (response.status >= kFirstFailure) throw Refused{response.status, answer};
    leave_out_who_serves(answer);
    return answer;
  }

 private:
  server::InProcessApi api_;
};

}  // namespace

std::unique_ptr<Service> open_local_service(const Config& config) {
  if (config.store.starts_with("memory:")) {
    throw std::invalid_argument("a memory: store exists only inside its process; ask its daemon with --server");
  }
  try {
    return std::make_unique<LocalService>(config);
  } catch (const StoreError& e) {
    const bool is_file = config.store.starts_with("sqlite:");
    if (!is_file || e.error().code != Errc::unavailable) throw;
    throw std::runtime_error(e.error().detail +
                             ". If that is `easyretry serve`, ask it: --server http://127.0.0.1:7077");
  }
}

}  // namespace easyretry::app
