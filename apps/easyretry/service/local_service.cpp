#include <nlohmann/json.hpp>

#include "server/in_process_api.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

constexpr int kFirstFailure = 400;

// This process has no handlers, so its API cannot tell which handlers are served: leaves that out.
void remove_served(nlohmann::json& answer) {
  for (const char* name : {"no_handler", "served", "instances", "waiting_workers", "last_asked_at", "did_you_mean"}) {
    answer.erase(name);
  }
  if (answer.contains("waits_for") && answer["waits_for"].value("kind", "") == "no_handler") answer.erase("waits_for");
  for (const char* list : {"tasks", "handlers"}) {
    if (!answer.contains(list)) continue;
    for (nlohmann::json& entry : answer[list]) remove_served(entry);
  }
}

http::Method method_of(const ApiRequest& request) {
  switch (request.method) {
    case Method::get: return http::Method::get;
    case Method::post: return http::Method::post;
    case Method::patch: return http::Method::patch;
  }
  return http::Method::other;
}

class LocalService final : public Service {
 public:
  explicit LocalService(const Config& config) : api_(config) {}

  nlohmann::json ask(const ApiRequest& request) override {
    const auto target = http::parse_target(target_of(request));
    if (!target)
      throw std::runtime_error("an id must be a whole number, as returned by submit, and all other text must be UTF-8");
    http::Request local;
    local.id = "command-line";
    local.method = method_of(request);
    local.target = *target;
    local.body = request.body;
    local.peer = "command line";
    const http::Response response = api_.ask(std::move(local));
    auto answer = nlohmann::json::parse(response.body);
    if (response.status >= kFirstFailure) throw ApiError{response.status, answer};
    remove_served(answer);
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
