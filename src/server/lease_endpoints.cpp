// /v1/leases: workers in other processes lease tasks, run them and report the outcome. Each request carries the version
// of the lease, so a late one changes nothing.

#include <algorithm>

#include "base/json_copy.h"
#include "base/time_text.h"
#include "call/errors.h"
#include "engine/attempt.h"
#include "policy/limits.h"
#include "server/endpoints.h"
#include "server/lease_queue.h"
#include "server/refusal.h"
#include "server/request_fields.h"
#include "server/task_json.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using engine::RunPtr;
using http::Method;

constexpr std::size_t kMostHandlers = 1000;
constexpr std::int64_t kMostTasks = 1000;
constexpr Millis kLongestWait{60'000};
// Tasks are claimed only on request, so even a request without a wait needs the time of a claim.
constexpr Millis kShortestWait{200};

struct LeaseTerms {
  std::optional<Millis> lease;  // nullopt: the engine's default
  bool judges = false;          // the worker applies policies and calls callbacks itself
};

using LeasedTasks = std::vector<std::pair<task::TaskRecord, std::string>>;

http::Response leased(const LeasedTasks& tasks, const LeaseTerms& terms) {
  JsonWriter out;
  out.begin_object();
  out.key("tasks");
  out.begin_array();
  for (const auto& [record, arguments] : tasks) {
    if (terms.judges) {
      write_unjudged_task(out, record, arguments);
    } else {
      write_task(out, record, {.arguments = arguments});
    }
  }
  out.end_array();
  out.end_object();
  return {.body = out.take()};
}

// Sends claimed tasks to the worker whose request waits for them.
class Lender {
 public:
  Lender(std::shared_ptr<Space> space, ApiThreads& threads, LeaseTerms terms, http::Respond respond,
         std::string request_id)
      : space_(std::move(space)),
        threads_(threads),
        terms_(terms),
        respond_(std::move(respond)),
        request_id_(std::move(request_id)) {}

  void lend(const std::vector<RunPtr>& runs) const {
    answer(respond_, request_id_, space_->core().options().log, [&] { respond_(lent(runs)); });
  }

 private:
  engine::Core& core() const { return space_->core(); }

  http::Response lent(const std::vector<RunPtr>& runs) const {
    std::vector<RunPtr> begun;
    std::vector<std::string> arguments;
    for (const RunPtr& run : runs) {
      auto beginning = begin(*run);
      if (beginning.instead) {
        core().settle_later(run, *std::move(beginning.instead));
        continue;
      }
      begun.push_back(run);
      arguments.push_back(std::move(beginning.arguments));
    }
    const auto until = leases_of(begun);
    core().let_go(begun);
    LeasedTasks tasks;
    for (std::size_t i = 0; i < begun.size(); ++i) {
      // After let_go(): the worker enforces the timeout itself.
      space_->lease_starts().add(begun[i]->ticket(), core().mark_started(*begun[i]));
      tasks.emplace_back(begun[i]->record, std::move(arguments[i]));
      if (until) tasks.back().first.lease_until = *until;
      if (terms_.judges) open_result(tasks.back().first);
    }
    http::Response response = leased(tasks, terms_);
    response.sent = [space = space_, &threads = threads_, begun](bool written) {
      if (!written) threads.put_anyway([space, begun] { hand_back(*space, begun); });
    };
    return response;
  }

  // A worker that judges also decides which tasks to run. Arguments that cannot be decrypted are handled here.
  engine::Beginning begin(engine::Run& run) const {
    if (terms_.judges) {
      if (!core().still_ours(run)) return {engine::handed_back(run), {}};
      if (auto arguments = core().payloads().open_arguments(run.record)) return {{}, *std::move(arguments)};
    }
    return core().begin_attempt(run);
  }

  // Without a result, the callback reports that it is missing.
  void open_result(task::TaskRecord& record) const {
    record.result = core().payloads().open_result(record).value_or("");
  }

  // Extends the leases to the time that the worker asked for. If that fails, the lease of the claim applies.
  std::optional<TimePoint> leases_of(const std::vector<RunPtr>& runs) const {
    if (!terms_.lease || runs.empty()) return std::nullopt;
    std::vector<storage::Renewal> renewals;
    renewals.reserve(runs.size());
    for (const RunPtr& run : runs) renewals.push_back({run->ticket(), *terms_.lease});
    const auto reply = core().renew(renewals);
    if (!reply || reply->trouble) return std::nullopt;
    return reply->now + *terms_.lease;
  }

  // The worker did not get them: the attempt does not count.
  static void hand_back(Space& space, const std::vector<RunPtr>& runs) {
    for (const RunPtr& run : runs) space.core().settle_started(run, engine::handed_back(*run));
  }

  const std::shared_ptr<Space> space_;
  ApiThreads& threads_;
  const LeaseTerms terms_;
  const http::Respond respond_;
  const std::string request_id_;
};

void lease(ApiThreads& threads, const Call& call, const http::Respond& respond) {
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  LeaseQueue::Request ask;
  ask.handlers = fields.texts("handlers", kMostHandlers);
  ask.most = static_cast<std::size_t>(fields.number("max", 1, 1, kMostTasks));
  const Millis wait = std::max(kShortestWait, fields.millis("wait_ms", kLongestWait).value_or(Millis{0}));
  const LeaseTerms terms{fields.millis("lease_ms", kLongestLease), fields.flag("judges", false)};
  const auto tells = fields.texts("tells", kMostHandlers);
  fields.end();
  if (!tells.empty() && !terms.judges) throw Refusal{{422, "invalid", "tells needs judges: true"}};
  if (ask.handlers.empty())
    throw Refusal{{422, "invalid", "handlers is missing or empty; list the handlers that you serve"}};
  for (const std::string& name : ask.handlers) call.space->handler(name);
  for (const std::string& name : tells) call.space->leave_final_failures_to_workers(name);
  call.space->lease_queue().no_telling(ask.handlers);  // without effect for those in `tells`
  ask.until = system_clock().steady() + wait;

  const auto lender = std::make_shared<const Lender>(call.space, threads, terms, respond, call.request.id);
  ask.lend = [lender, &threads](std::vector<RunPtr> runs) {
    threads.put_anyway([lender, runs = std::move(runs)] { lender->lend(runs); });
  };
  const std::uint64_t number = call.space->lease_queue().wait(std::move(ask));
  // The connection may keep this function longer than the response, so it must not own what owns the connection.
  call.request.when_gone([space = call.space, number, weak = std::weak_ptr{lender}] {
    const auto waiting = weak.lock();
    if (waiting && space->lease_queue().leave(number)) waiting->lend({});
  });
}

http::Problem lease_lost(const std::string& id) {
  return {409, "lease_lost",
          "task " + id + " is no longer leased to you: the lease expired, or the task was cancelled or settled",
          "stop working on it; nothing was changed"};
}

// The task of a lease. Throws Refusal if the lease is lost.
RunPtr leased_run(Space& space, const std::string& id, std::int64_t version) {
  auto record = value_or_throw(space.core().find(parse_id(id)));
  if (!record || record->info.state != TaskState::running || record->info.version != version) {
    throw Refusal{lease_lost(id)};
  }
  auto handler = space.handler(record->info.handler);
  const auto number = space.core().handlers().snapshot()->by_name.at(record->info.handler);
  return std::make_shared<engine::Run>(*std::move(record), std::move(handler), number, Instant::max());
}

// The same, with the start time of the attempt that ends now.
RunPtr ended_run(Space& space, const std::string& id, std::int64_t version) {
  RunPtr run = leased_run(space, id, version);
  if (const auto since = space.lease_starts().take(run->ticket())) run->started = *since;
  return run;
}

std::int64_t version_of(Fields& fields) {
  return fields.need("version").as_int();
}

http::Response settled(Space& space, const std::string& id, const RunPtr& run, task::Settlement settlement) {
  using Kind = task::Settlement::Kind;
  const bool retried = settlement.kind == Kind::retry;
  const Millis delay = settlement.delay;
  const auto outcome = settlement.outcome;
  if (!value_or_throw(space.core().settle_now(run, std::move(settlement)))) throw Refusal{lease_lost(id)};
  JsonWriter out;
  out.begin_object();
  out.key("id");
  out.string(id);
  out.key(retried ? "retry_in_ms" : "outcome");
  if (retried) {
    out.integer(delay.count());
  } else {
    out.string(name_of(outcome));
  }
  out.end_object();
  return {.body = out.take()};
}

http::Response done(const Call& call) {
  const std::string& id = call.request.parameters.at("id");
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  const std::int64_t version = version_of(fields);
  const auto result = fields.find("result");
  fields.end();
  const RunPtr run = ended_run(*call.space, id, version);
  auto& core = call.space->core();
  const auto arguments = value_or_throw(core.payloads().open_arguments(run->record));
  detail::Reply reply{.result = result ? base::canonical_json(*result) : "null"};
  return settled(*call.space, id, run, core.end_attempt(*run, std::move(reply), arguments));
}

http::Response fail(const Call& call) {
  const std::string& id = call.request.parameters.at("id");
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  const std::int64_t version = version_of(fields);
  const std::string why = fields.text("error", "failed without a message");
  const auto retry_after_ms = fields.millis("retry_after_ms", policy::kLongestDelay);
  const bool for_good = fields.flag("give_up", false);
  fields.end();
  if (for_good && retry_after_ms) {
    throw Refusal{{422, "invalid", "give_up and retry_after_ms exclude each other"}};
  }
  const RunPtr run = ended_run(*call.space, id, version);
  const Answer said = for_good         ? easyretry::give_up(why)
                      : retry_after_ms ? easyretry::retry_after(*retry_after_ms, why)
                                       : easyretry::retry_later(why);
  return settled(*call.space, id, run, call.space->core().end_attempt(*run, detail::Reply{.answer = said}, "[]"));
}

http::Response renew(const Call& call) {
  const std::string& id = call.request.parameters.at("id");
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  storage::Renewal renewal;
  renewal.ticket = {parse_id(id), version_of(fields)};
  auto& core = call.space->core();
  renewal.lease = fields.millis("lease_ms", kLongestLease).value_or(core.options().lease);
  if (const auto progress = fields.find("progress")) renewal.progress = std::string{progress->as_string()};
  fields.end();
  leased_run(*call.space, id, renewal.ticket.version);  // checks the namespace
  const auto reply = value_or_throw(core.renew({&renewal, 1}));
  if (!reply.applied.front()) throw Refusal{lease_lost(id)};
  JsonWriter out;
  out.begin_object();
  out.key("lease_until");
  out.string(base::to_text(reply.now + renewal.lease));
  out.end_object();
  return {.body = out.take()};
}

}  // namespace

void add_lease_endpoints(Api& api) {
  api.add(Method::post, "/v1/leases", Right::work,
          Endpoint{[&api](const Call& call, const http::Respond& respond) { lease(api.threads(), call, respond); }},
          kBodyOfNames);
  api.add(Method::post, "/v1/leases/{id}/done", Right::work, PlainEndpoint{done}, kLongBody);
  api.add(Method::post, "/v1/leases/{id}/fail", Right::work, PlainEndpoint{fail}, kLongBody);
  api.add(Method::post, "/v1/leases/{id}/renew", Right::work, PlainEndpoint{renew});
}

}  // namespace easyretry::server
