// /v1/leases/settle and /v1/leases/renew: for engines in other processes, which apply their own policies. Many tasks at
// a time, with any outcome. Each task carries the version of its lease, so a late request changes nothing.

#include <unordered_map>

#include <easyretry/json.h>

#include "base/json_copy.h"
#include "call/errors.h"
#include "engine/error_text.h"
#include "policy/limits.h"
#include "server/endpoints.h"
#include "server/lease_queue.h"
#include "server/refusal.h"
#include "server/request_fields.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using engine::RunPtr;
using http::Method;
using task::Settlement;

constexpr std::size_t kMostInABatch = 10'000;

template <class Named>
auto needed(std::string_view field, const std::string& text, Named named) {
  const auto found = named(text);
  if (!found) throw Refusal{{422, "invalid", "unknown " + std::string{field} + " \"" + text + "\""}};
  return *found;
}

std::optional<Settlement::Kind> kind_named(std::string_view text) {
  if (text == "finish") return Settlement::Kind::finish;
  if (text == "retry") return Settlement::Kind::retry;
  if (text == "advance") return Settlement::Kind::advance;
  if (text == "hand_back") return Settlement::Kind::hand_back;
  return std::nullopt;
}

task::Ticket ticket_of(Fields& fields) {
  const TaskId id = parse_id(std::string{fields.need("id").as_string()});
  return {id, fields.need_whole("version")};
}

void require_consistent(const Settlement& settlement) {
  const bool callback = settlement.stage != Stage::run;
  if (settlement.kind == Settlement::Kind::advance && !callback) {
    throw Refusal{{422, "invalid", "advance needs the stage on_success or on_final_failure"}};
  }
}

Settlement settlement_of(JsonView object) {
  Fields fields{object};
  Settlement settlement;
  settlement.ticket = ticket_of(fields);
  settlement.kind = needed("kind", std::string{fields.need("kind").as_string()}, kind_named);
  settlement.outcome = needed("outcome", fields.text("outcome", "succeeded"), task::outcome_named);
  settlement.stage = needed("stage", fields.text("stage", "run"), task::stage_named);
  settlement.delay = fields.millis("delay_ms", policy::kLongestDelay).value_or(Millis{0});
  settlement.error = engine::kept_error(fields.text("error"));
  if (const auto result = fields.find("result")) settlement.result = base::canonical_json(*result);
  settlement.keep_result = fields.millis("keep_result_ms", policy::kLongestDelay).value_or(Millis{0});
  fields.end();
  require_consistent(settlement);
  return settlement;
}

storage::Renewal renewal_of(JsonView object, Millis usual) {
  Fields fields{object};
  storage::Renewal renewal;
  renewal.ticket = ticket_of(fields);
  renewal.lease = fields.millis("lease_ms", kLongestLease).value_or(usual);
  if (const auto progress = fields.find("progress")) renewal.progress = std::string{progress->as_string()};
  fields.end();
  return renewal;
}

template <class Read>
auto listed(const Call& call, Read read) {
  require_known(call.request, {});
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  const JsonView list = fields.need("tasks");
  fields.end();
  list.expect(JsonKind::array);
  if (list.size() == 0 || list.size() > kMostInABatch) {
    throw Refusal{{422, "invalid", "tasks has " + std::to_string(list.size()) + " entries; send 1 to 10,000"}};
  }
  std::vector<decltype(read(list))> all;
  all.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) all.push_back(read(list.at(i)));
  return all;
}

// The tasks that are still leased, as runs of this namespace.
class HeldTasks {
 public:
  HeldTasks(Namespace& name_space, const std::vector<TaskId>& ids) : namespace_(name_space) {
    for (task::TaskRecord& record : value_or_throw(name_space.core().store().find(ids))) {
      if (record.info.name_space != name_space.name() || record.info.state != TaskState::running) continue;
      const TaskId id = record.info.id;
      records_.emplace(id, std::move(record));
    }
  }

  RunPtr run(const task::Ticket& ticket) const {
    const auto found = records_.find(ticket.id);
    if (found == records_.end() || found->second.info.version != ticket.version) return nullptr;
    auto handler = namespace_.handler(found->second.info.handler);
    const auto no = namespace_.core().handlers().snapshot()->by_name.at(found->second.info.handler);
    return std::make_shared<engine::Run>(found->second, std::move(handler), no, Instant::max());
  }

 private:
  Namespace& namespace_;
  std::unordered_map<TaskId, task::TaskRecord> records_;
};

template <class Asked, class TicketOf>
HeldTasks held_tasks(Namespace& name_space, const std::vector<Asked>& asked, TicketOf ticket) {
  std::vector<TaskId> ids;
  ids.reserve(asked.size());
  for (const Asked& one : asked) ids.push_back(ticket(one).id);
  return {name_space, ids};
}

// Whether each task was still leased, in the order of the request.
struct AppliedAnswer {
  std::vector<bool> applied;
};
EASYRETRY_JSON(AppliedAnswer, applied)

http::Response applied(std::vector<bool> which) {
  return {.body = to_json(AppliedAnswer{std::move(which)})};
}

// Records how long the run took, what it means for the circuit, and its line among the last attempts.
void note_run(Namespace& name_space, engine::Run& run, Settlement& settlement) {
  const Instant now = system_clock().steady();
  if (const auto since = name_space.leases().end(run.ticket())) {
    run.started = *since;
    run.handler->measure(now - *since, settlement);
  }
  run.handler->tell_circuit(now, settlement);
  name_space.core().note_attempt(run, settlement);
}

http::Response settle(const Call& call) {
  Namespace& name_space = *call.name_space;
  auto wanted = listed(call, settlement_of);
  const HeldTasks held = held_tasks(name_space, wanted, [](const Settlement& one) { return one.ticket; });
  std::vector<bool> which(wanted.size(), false);
  std::vector<std::size_t> places;
  std::vector<engine::Settled> settled;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    RunPtr run = held.run(wanted[i].ticket);
    if (!run) continue;
    note_run(name_space, *run, wanted[i]);
    Settlement& one = wanted[i];
    one.result = value_or_throw(name_space.core().payloads().seal_result(run->record, std::move(one.result)));
    settled.push_back({std::move(run), std::move(one)});
    places.push_back(i);
  }
  if (!settled.empty()) {
    const auto done = value_or_throw(name_space.core().settle_now(settled));
    for (std::size_t i = 0; i < places.size(); ++i) which[places[i]] = done[i];
  }
  return applied(std::move(which));
}

http::Response renew_batch(const Call& call) {
  Namespace& name_space = *call.name_space;
  const auto wanted = listed(call, [&](JsonView one) { return renewal_of(one, name_space.core().options().lease); });
  const HeldTasks held = held_tasks(name_space, wanted, [](const storage::Renewal& one) { return one.ticket; });
  std::vector<bool> which(wanted.size(), false);
  std::vector<std::size_t> places;
  std::vector<storage::Renewal> renewals;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const RunPtr run = held.run(wanted[i].ticket);
    if (!run) continue;
    name_space.leases().renew(wanted[i].ticket, run->record.info.handler, system_clock().steady() + wanted[i].lease);
    renewals.push_back(wanted[i]);
    places.push_back(i);
  }
  const auto reply = value_or_throw(name_space.core().renew(renewals));
  if (reply.trouble) throw StoreError({Errc::in_doubt, reply.trouble->where, reply.trouble->detail});
  for (std::size_t i = 0; i < places.size(); ++i) which[places[i]] = reply.applied[i];
  return applied(std::move(which));
}

}  // namespace

void add_lease_batch_endpoints(Api& api) {
  api.add(Method::post, "/v1/leases/settle", Right::work, PlainEndpoint{settle}, kLongBody);
  api.add(Method::post, "/v1/leases/renew", Right::work, PlainEndpoint{renew_batch}, kLongBody);
}

}  // namespace easyretry::server
