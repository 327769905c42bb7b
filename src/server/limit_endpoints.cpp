// /v1/limits: the limits of a namespace, as this instance sees them, and the limits that operators set at run time.

#include <algorithm>

#include "base/nearest.h"
#include "call/errors.h"
#include "server/answer_values.h"
#include "server/endpoints.h"
#include "server/request_fields.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using http::Method;

struct LimitOrderAnswer {
  std::optional<int> running{};
  std::optional<double> per_second{};
  std::optional<int> burst{};
  ShownTime since;
  ShownText why;
};
EASYRETRY_JSON(LimitOrderAnswer, running, per_second, burst, since, why)

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
  std::optional<LimitOrderAnswer> order{};
};
EASYRETRY_JSON(LimitAnswer, subject, handlers, running, per_second, burst, running_here, seats_here,
               starts_per_second_here, holds_since, held_tasks, order)

struct LimitList {
  std::vector<LimitAnswer> limits{};
};
EASYRETRY_JSON(LimitList, limits)

struct ChangedLimit {
  ShownText subject;
  bool known = false;
  std::optional<std::string> did_you_mean{};
  bool changed = false;
  std::optional<LimitOrderAnswer> order{};
};
EASYRETRY_JSON(ChangedLimit, subject, known, did_you_mean, changed, order)

LimitOrderAnswer shown_order(const LimitOrder& order) {
  LimitOrderAnswer shown{
      .running = order.limit.running, .per_second = order.limit.per_second, .since = order.since, .why = {order.why}};
  if (order.limit.per_second) shown.burst = order.limit.burst;
  return shown;
}

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

// Lists the orders in the store, because an idle instance does not know them. An order for a handler or circuit of
// other instances, or for a misspelt name, is listed without handlers.
http::Response list_limits(const Call& call) {
  require_known(call.request, {});
  engine::Core& core = call.name_space->core();
  const engine::LimitOrders orders = value_or_throw(core.limit_orders());
  std::vector<LimitInfo> limits = core.limits();  // the answer has views of it
  for (const auto& [subject, order] : orders) {
    if (std::ranges::find(limits, subject, &LimitInfo::subject) != limits.end()) continue;
    LimitInfo& info = limits.emplace_back();
    info.subject = subject;
    info.running = order.limit.running;
    info.per_second = order.limit.per_second;
    info.burst = order.limit.burst;
  }
  std::ranges::sort(limits, {}, &LimitInfo::subject);
  LimitList answer;
  for (const LimitInfo& one : limits) {
    LimitAnswer& limit = answer.limits.emplace_back(shown_limit(one));
    const auto order = orders.find(one.subject);
    if (order != orders.end()) limit.order = shown_order(order->second);
  }
  return {.body = to_json(answer)};
}

std::string subject_of(const Call& call) {
  return call.request.parameters.at("kind") + " " + call.request.parameters.at("name");
}

// The handlers and circuits that can have a limit here.
std::vector<std::string> subjects(const engine::HandlerTable& table) {
  std::vector<std::string> all;
  for (const std::string& handler : table.names()) all.push_back("handler " + handler);
  for (const auto& [circuit, state] : table.circuits) all.push_back("circuit " + circuit);
  return all;
}

// The handler or circuit may belong to other instances, or its name may be misspelt.
http::Response changed_limit(const Call& call, const std::string& subject, bool changed,
                             const std::optional<LimitOrder>& order) {
  const std::vector<std::string> all = subjects(*call.name_space->core().handlers().snapshot());
  ChangedLimit answer{.subject = {subject}, .known = std::ranges::count(all, subject) > 0, .changed = changed};
  const std::vector<std::string_view> names{all.begin(), all.end()};
  const auto meant = base::nearest(subject, names);
  if (meant && !answer.known) answer.did_you_mean = std::string{*meant};
  if (order) answer.order = shown_order(*order);
  return {.body = to_json(answer)};
}

http::Response set_limit(const Call& call) {
  require_known(call.request, {});
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  constexpr int kMost = 1'000'000;
  LimitOptions limit;
  if (fields.find("running")) limit.running = static_cast<int>(fields.number("running", 0, 0, kMost));
  if (const auto rate = fields.find("per_second")) limit.per_second = rate->as_double();
  limit.burst = static_cast<int>(fields.number("burst", 1, 1, kMost));
  const std::string why{fields.need("why").as_string()};
  fields.end();
  const std::string subject = subject_of(call);
  return changed_limit(call, subject, true, value_or_throw(call.name_space->core().order_limit(subject, limit, why)));
}

http::Response reset_limit(const Call& call) {
  require_nothing(call.request);
  const std::string subject = subject_of(call);
  return changed_limit(call, subject, value_or_throw(call.name_space->core().reset_limit(subject)), std::nullopt);
}

}  // namespace

void add_limit_endpoints(Api& api) {
  api.add(Method::get, "/v1/limits", Right::view, PlainEndpoint{list_limits});
  api.add(Method::post, "/v1/limits/{kind}/{name}/set", Right::operate, PlainEndpoint{set_limit});
  api.add(Method::post, "/v1/limits/{kind}/{name}/reset", Right::operate, PlainEndpoint{reset_limit});
}

}  // namespace easyretry::server
