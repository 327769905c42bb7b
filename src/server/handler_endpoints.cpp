// /v1/handlers.

#include <algorithm>
#include <map>
#include <set>

#include "call/errors.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"
#include "server/served_handlers.h"
#include "server/task_answers.h"
#include "storage/checks.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using http::Method;
using Paused = std::map<std::string, PausedHandler>;

Paused paused_in(Namespace& name_space) {
  Paused paused;
  for (PausedHandler& one : value_or_throw(name_space.core().paused()).handlers) {
    std::string name = one.handler;
    paused.emplace(std::move(name), std::move(one));
  }
  return paused;
}

struct PauseAnswer {
  ShownTime since;
  std::string_view why;
};
EASYRETRY_JSON(PauseAnswer, since, why)

struct RecentAnswer {
  Millis measured_ms{};
  std::int64_t stored = 0;
  std::int64_t succeeded = 0;
  std::int64_t ended_badly = 0;
};
EASYRETRY_JSON(RecentAnswer, measured_ms, stored, succeeded, ended_badly)

struct HandlerAnswer {
  std::string_view name;
  bool served = false;
  std::vector<std::string> instances{};
  std::size_t waiting_workers = 0;
  std::optional<ShownTime> last_asked_at{};
  std::optional<std::string> did_you_mean{};
  std::int64_t live = 0;
  std::int64_t stored = 0;
  std::map<std::string, std::int64_t> ended{};
  std::optional<RecentAnswer> recent{};
  std::optional<PauseAnswer> paused{};
};
EASYRETRY_JSON(HandlerAnswer, name, served, instances, waiting_workers, last_asked_at, did_you_mean, live, stored,
               ended, recent, paused)

struct HandlerList {
  std::vector<HandlerAnswer> handlers{};
};
EASYRETRY_JSON(HandlerList, handlers)

struct ChangedHandler {
  std::string_view name;
  bool served = false;
  std::optional<std::string> did_you_mean{};
  bool changed = false;
  std::optional<PauseAnswer> paused{};
};
EASYRETRY_JSON(ChangedHandler, name, served, did_you_mean, changed, paused)

std::optional<PauseAnswer> pause_of(const Paused& paused, const std::string& name) {
  const auto found = paused.find(name);
  if (found == paused.end()) return std::nullopt;
  return PauseAnswer{found->second.since, found->second.why};
}

void count(HandlerAnswer& answer, const HandlerCounts& counts) {
  answer.live = counts.live();
  answer.stored = counts.total.stored;
  for (const auto& [outcome, number] : counts.total.ended) answer.ended.emplace(to_string(outcome), number);
}

void tell_workers(HandlerAnswer& answer, Namespace& name_space, const std::string& name) {
  const LeaseQueue::Workers workers = name_space.lease_queue().workers_of(name);
  answer.waiting_workers = workers.waiting;
  if (workers.asked_ago) answer.last_asked_at = name_space.core().store_now() - *workers.asked_ago;
}

void suggest_names(HandlerList& list, const std::set<std::string>& served) {
  std::vector<std::string> unserved;
  for (const HandlerAnswer& one : list.handlers) {
    if (!one.served) unserved.emplace_back(one.name);
  }
  const auto meant = names_meant(unserved, served);
  for (HandlerAnswer& one : list.handlers) {
    if (const auto found = meant.find(std::string{one.name}); found != meant.end()) one.did_you_mean = found->second;
  }
}

// Handlers that have tasks, are served, are known here, or are paused.
http::Response list_handlers(const Call& call) {
  require_known(call.request, {});
  Namespace& name_space = *call.name_space;
  Counts counts = value_or_throw(name_space.core().counts());
  const Paused paused = paused_in(name_space);
  const ServedHandlers served_handlers{name_space};
  const auto served = served_handlers.names();
  for (const std::string& name : served) counts.try_emplace(name);
  for (const std::string& name : name_space.core().handlers().snapshot()->names()) counts.try_emplace(name);
  for (const auto& [name, since] : paused) counts.try_emplace(name);
  const auto recent = name_space.series().recent(name_space.core().clock().now());
  HandlerList answer;
  for (const auto& [name, tally] : counts) {
    HandlerAnswer& one = answer.handlers.emplace_back(HandlerAnswer{.name = name});
    one.instances = served_handlers.instances(name);
    one.served = !one.instances.empty();
    one.paused = pause_of(paused, name);
    count(one, tally);
    if (const auto found = recent.find(name); found != recent.end()) {
      const auto& [measured, stored, succeeded, ended_badly] = found->second;
      one.recent = RecentAnswer{measured, stored, succeeded, ended_badly};
    }
    tell_workers(one, name_space, name);
  }
  suggest_names(answer, served);
  return {.body = to_json(answer)};
}

// The handler may belong to other instances, or its name may be misspelt.
http::Response changed(const Call& call, bool it_changed) {
  const std::string& name = call.request.parameters.at("name");
  const auto served = ServedHandlers{*call.name_space}.names();
  const Paused paused = paused_in(*call.name_space);
  ChangedHandler answer{.name = name, .served = served.contains(name), .changed = it_changed};
  if (!answer.served) {
    const auto meant = names_meant({name}, served);
    if (!meant.empty()) answer.did_you_mean = meant.begin()->second;
  }
  answer.paused = pause_of(paused, name);
  return {.body = to_json(answer)};
}

// A name that no handler can have is a mistake, and does not mean that the handler is not paused.
void require_name(const std::string& name) {
  if (name.size() <= storage::kLongestHandlerName) return;
  throw Refusal{{422, "invalid",
                 "the handler's name has " + std::to_string(name.size()) + " bytes; it may have " +
                     std::to_string(storage::kLongestHandlerName)}};
}

http::Response pause(const Call& call) {
  require_known(call.request, {});
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  const std::string why{fields.need("why").as_string()};
  fields.end();
  return changed(call, value_or_throw(call.name_space->core().pause(call.request.parameters.at("name"), why)));
}

http::Response resume(const Call& call) {
  require_nothing(call.request);
  require_name(call.request.parameters.at("name"));
  return changed(call, value_or_throw(call.name_space->core().resume(call.request.parameters.at("name"))));
}

}  // namespace

void add_handler_endpoints(Api& api) {
  api.add(Method::get, "/v1/handlers", Right::view, PlainEndpoint{list_handlers});
  api.add(Method::post, "/v1/handlers/{name}/pause", Right::operate, PlainEndpoint{pause});
  api.add(Method::post, "/v1/handlers/{name}/resume", Right::operate, PlainEndpoint{resume});
}

}  // namespace easyretry::server
