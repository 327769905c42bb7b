// /v1/circuits: the circuits of a namespace, as this instance sees them, and the orders of operators to them.

#include <algorithm>

#include "base/nearest.h"
#include "call/errors.h"
#include "engine/orders.h"
#include "server/answer_values.h"
#include "server/endpoints.h"
#include "server/request_fields.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using http::Method;

struct OrderAnswer {
  std::string_view state;
  ShownTime since;
  std::optional<ShownTime> until{};
  ShownText why;
};
EASYRETRY_JSON(OrderAnswer, state, since, until, why)

struct CircuitAnswer {
  ShownText name;
  std::vector<ShownText> handlers{};
  std::string_view state;
  std::optional<ShownTime> since{};
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;
  std::optional<double> starts_per_second{};
  std::size_t held = 0;
  std::optional<OrderAnswer> order{};
  std::optional<double> retries_at_most{};
  std::optional<ShownTime> retries_held_since{};
  std::optional<std::size_t> held_retries{};
};
EASYRETRY_JSON(CircuitAnswer, name, handlers, state, since, answered, failed, starts_per_second, held, order,
               retries_at_most, retries_held_since, held_retries)

struct CircuitList {
  std::vector<CircuitAnswer> circuits{};
};
EASYRETRY_JSON(CircuitList, circuits)

struct ChangedCircuit {
  ShownText name;
  bool known = false;
  std::optional<std::string> did_you_mean{};
  bool changed = false;
  std::optional<OrderAnswer> order{};
};
EASYRETRY_JSON(ChangedCircuit, name, known, did_you_mean, changed, order)

OrderAnswer shown(const CircuitOrder& order) {
  return {to_string(order.state), order.since, order.until, {order.why}};
}

CircuitAnswer shown(const CircuitInfo& circuit) {
  CircuitAnswer answer{.name = {circuit.name}, .state = to_string(circuit.state)};
  for (const std::string& handler : circuit.handlers) answer.handlers.push_back({handler});
  answer.since = circuit.since;
  answer.answered = circuit.answered;
  answer.failed = circuit.failed;
  answer.starts_per_second = circuit.starts_per_second;
  answer.held = circuit.held;
  answer.retries_at_most = circuit.retries_at_most;
  if (circuit.retries_at_most) answer.held_retries = circuit.held_retries;
  answer.retries_held_since = circuit.retries_held_since;
  return answer;
}

// Lists the orders in the store, because an idle instance does not know them. An order for a circuit of other
// instances, or for a misspelt name, is listed without handlers.
http::Response list_circuits(const Call& call) {
  require_known(call.request, {});
  engine::Core& core = call.name_space->core();
  engine::CircuitOrders orders = value_or_throw(core.circuit_orders());
  std::vector<CircuitInfo> circuits = core.circuits();
  for (const auto& [name, order] : orders) {
    if (std::ranges::find(circuits, name, &CircuitInfo::name) == circuits.end()) circuits.push_back({.name = name});
  }
  std::ranges::sort(circuits, {}, &CircuitInfo::name);
  CircuitList answer;
  for (const CircuitInfo& one : circuits) {
    CircuitAnswer& circuit = answer.circuits.emplace_back(shown(one));
    const auto order = orders.find(one.name);
    if (order == orders.end()) continue;
    circuit.order = shown(order->second);
    circuit.state = circuit.order->state;
  }
  return {.body = to_json(answer)};
}

// The circuit may belong to other instances, or its name may be misspelt.
http::Response changed(const Call& call, const std::string& name, bool it_changed,
                       const std::optional<CircuitOrder>& order) {
  const std::vector<CircuitInfo> circuits = call.name_space->core().circuits();
  std::vector<std::string_view> names;
  for (const CircuitInfo& one : circuits) names.push_back(one.name);
  ChangedCircuit answer{.name = {name}, .known = std::ranges::count(names, name) > 0, .changed = it_changed};
  if (const auto meant = base::nearest(name, names); meant && !answer.known) answer.did_you_mean = std::string{*meant};
  if (order) answer.order = shown(*order);
  return {.body = to_json(answer)};
}

http::Response give_order(const Call& call, CircuitState state, Millis longest) {
  require_known(call.request, {});
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  const std::string why{fields.need("why").as_string()};
  if (state == CircuitState::closed) fields.need("for_ms");
  const std::optional<Millis> time = fields.millis("for_ms", longest);
  fields.end();
  const std::string& name = call.request.parameters.at("name");
  const CircuitOrder order = value_or_throw(call.name_space->core().order_circuit(name, state, time, why));
  return changed(call, name, true, order);
}

http::Response hold_open(const Call& call) {
  return give_order(call, CircuitState::open, engine::kLongestOpen);
}

http::Response ignore(const Call& call) {
  return give_order(call, CircuitState::closed, engine::kLongestIgnore);
}

http::Response reset(const Call& call) {
  require_nothing(call.request);
  const std::string& name = call.request.parameters.at("name");
  return changed(call, name, value_or_throw(call.name_space->core().reset_circuit(name)), std::nullopt);
}

}  // namespace

void add_circuit_endpoints(Api& api) {
  api.add(Method::get, "/v1/circuits", Right::view, PlainEndpoint{list_circuits});
  api.add(Method::post, "/v1/circuits/{name}/open", Right::operate, PlainEndpoint{hold_open});
  api.add(Method::post, "/v1/circuits/{name}/ignore", Right::operate, PlainEndpoint{ignore});
  api.add(Method::post, "/v1/circuits/{name}/reset", Right::operate, PlainEndpoint{reset});
}

}  // namespace easyretry::server
