// /v1/limits: the limits of a namespace, as this instance sees them.

#include "server/answer_values.h"
#include "server/endpoints.h"
#include "server/request_fields.h"

namespace easyretry::server {
namespace {

struct LimitAnswer {
  ShownText subject;
  std::vector<ShownText> handlers{};
  std::optional<int> running{};
  std::optional<double> per_second{};
  std::optional<int> burst{};
  std::uint64_t running_here = 0;
  std::optional<std::uint64_t> seats_here{};
  std::optional<double> starts_per_second_here{};
  std::optional<ShownTime> holds_since{};
  std::uint64_t held_tasks = 0;
};
EASYRETRY_JSON(LimitAnswer, subject, handlers, running, per_second, burst, running_here, seats_here,
               starts_per_second_here, holds_since, held_tasks)

struct LimitList {
  std::vector<LimitAnswer> limits{};
};
EASYRETRY_JSON(LimitList, limits)

LimitAnswer shown_limit(const LimitInfo& one) {
  LimitAnswer shown;
  shown.subject = {one.subject};
  for (const std::string& handler : one.handlers) shown.handlers.push_back({handler});
  shown.running = one.running;
  shown.per_second = one.per_second;
  shown.running_here = one.running_here;
  if (one.running) shown.seats_here = one.seats_here;
  if (one.per_second) {
    shown.burst = one.burst;
    shown.starts_per_second_here = one.starts_per_second_here;
  }
  if (one.holds_since) shown.holds_since = *one.holds_since;
  shown.held_tasks = one.held_tasks;
  return shown;
}

http::Response list_limits(const Call& call) {
  require_known(call.request, {});
  const auto limits = call.name_space->core().limits();  // the answer has views of it
  LimitList answer;
  for (const LimitInfo& one : limits) answer.limits.push_back(shown_limit(one));
  return {.body = to_json(answer)};
}

}  // namespace

void add_limit_endpoint(Api& api) {
  api.add(http::Method::get, "/v1/limits", Right::view, PlainEndpoint{list_limits});
}

}  // namespace easyretry::server
