// /v1/leases: workers in other processes fetch tasks, and say what became of them. Whatever they say carries the
// version that they were given: a late word changes nothing.

#include <algorithm>

#include "base/json_copy.h"
#include "base/time_text.h"
#include "call/errors.h"
#include "engine/attempt.h"
#include "policy/limits.h"
#include "server/endpoints.h"
#include "server/fields.h"
#include "server/lease_limits.h"
#include "server/refusal.h"
#include "server/task_json.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using engine::RunPtr;
using http::Method;

constexpr std::size_t kMostHandlers = 1000;
constexpr std::int64_t kMostTasks = 1000;
constexpr Millis kLongestWait{60'000};
// Nothing is claimed before somebody asks, so that even one who will not wait does so for the time of a claim.
constexpr Millis kShortestWait{200};

struct Wish {
  std::optional<Millis> lease;  // nullopt: the engine's
  bool judges = false;          // the worker judges attempts itself, and calls callbacks
};

using LentTasks = std::vector<std::pair<task::TaskRecord, std::string>>;

http::Response leased(const LentTasks& tasks, const Wish& wish) {
  JsonWriter out;
  out.begin_object();
  out.key("tasks");
  out.begin_array();
  for (const auto& [record, arguments] : tasks) {
    if (wish.judges) {
      write_unjudged_task(out, record, arguments);
    } else {
      write_task(out, record, {.arguments = arguments});
    }
  }
  out.end_array();
  out.end_object();
  return {.body = out.take()};
}

// Gives claimed tasks to the worker that waits for them.
class Lending {
 public:
  Lending(std::shared_ptr<Space> space, ApiThreads& threads, Wish wish, http::Respond respond, std::string request_id)
      : space_(std::move(space)),
        threads_(threads),
        wish_(wish),
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
    LentTasks tasks;
    for (std::size_t i = 0; i < begun.size(); ++i) {
      // Not before it was let go: its timeout is the worker's own affair.
      space_->lent_out().lent(begun[i]->ticket(), core().mark_started(*begun[i]));
      tasks.emplace_back(begun[i]->record, std::move(arguments[i]));
      if (until) tasks.back().first.lease_until = *until;
      if (wish_.judges) open_result(tasks.back().first);
    }
    http::Response response = leased(tasks, wish_);
    response.sent = [space = space_, &threads = threads_, begun](bool written) {
      if (!written) threads.put_anyway([space, begun] { hand_back(*space, begun); });
    };
    return response;
  }

  // Whoever judges for himself also decides what is not to be run. What cannot be opened is parked here.
  engine::Beginning begin(engine::Run& run) const {
    if (wish_.judges) {
      if (!core().still_ours(run)) return {engine::handed_back(run), {}};
      if (auto arguments = core().payloads().open_arguments(run.record)) return {{}, *std::move(arguments)};
    }
    return core().begin_attempt(run);
  }

  // Without it the callback says for itself that its result is missing.
  void open_result(task::TaskRecord& record) const {
    record.result = core().payloads().open_result(record).value_or("");
  }

  // As long as the worker asked for, where it is not what the claim gave. Where that cannot be had, the claim's counts.
  std::optional<TimePoint> leases_of(const std::vector<RunPtr>& runs) const {
    if (!wish_.lease || runs.empty()) return std::nullopt;
    std::vector<storage::Renewal> renewals;
    renewals.reserve(runs.size());
    for (const RunPtr& run : runs) renewals.push_back({run->ticket(), *wish_.lease});
    const auto reply = core().renew(renewals);
    if (!reply || reply->trouble) return std::nullopt;
    return reply->now + *wish_.lease;
  }

  // Nobody has heard of them: the attempt does not count.
  static void hand_back(Space& space, const std::vector<RunPtr>& runs) {
    for (const RunPtr& run : runs) space.core().settle_started(run, engine::handed_back(*run));
  }

  const std::shared_ptr<Space> space_;
  ApiThreads& threads_;
  const Wish wish_;
  const http::Respond respond_;
  const std::string request_id_;
};

void lease(ApiThreads& threads, const Call& call, const http::Respond& respond) {
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  PullDesk::Ask ask;
  ask.handlers = fields.texts("handlers", kMostHandlers);
  ask.most = static_cast<std::size_t>(fields.number("max", 1, 1, kMostTasks));
  const Millis wait = std::max(kShortestWait, fields.millis("wait_ms", kLongestWait).value_or(Millis{0}));
  const Wish wish{fields.millis("lease_ms", kLongestLease), fields.flag("judges", false)};
  const auto tells = fields.texts("tells", kMostHandlers);
  fields.end();
  if (!tells.empty() && !wish.judges)
    throw Refusal{{422, "invalid", "tells is only for workers that judge; set judges too"}};
  if (ask.handlers.empty()) throw Refusal{{422, "invalid", "handlers is missing or empty; list those you serve"}};
  for (const std::string& name : ask.handlers) call.space->handler(name);
  for (const std::string& name : tells) call.space->leave_final_failures_to_workers(name);
  call.space->desk().no_telling(ask.handlers);  // but those of whom the line before knows better
  ask.until = system_clock().steady() + wait;

  const auto lending = std::make_shared<const Lending>(call.space, threads, wish, respond, call.request.id);
  ask.lend = [lending, &threads](std::vector<RunPtr> runs) {
    threads.put_anyway([lending, runs = std::move(runs)] { lending->lend(runs); });
  };
  const std::uint64_t number = call.space->desk().wait(std::move(ask));
  // The connection keeps this, perhaps beyond the answer: it must not keep what keeps the connection.
  call.request.when_gone([space = call.space, number, weak = std::weak_ptr{lending}] {
    const auto waiting = weak.lock();
    if (waiting && space->desk().leave(number)) waiting->lend({});
  });
}

http::Problem lease_lost(const std::string& id) {
  return {409, "lease_lost",
          "task " + id + " is no longer yours: its lease expired, it was cancelled, or it has been answered",
          "stop working on it; nothing was changed"};
}

// The task as it was lent. Throws Refusal where it is not that any more.
RunPtr lent_run(Space& space, const std::string& id, std::int64_t version) {
  auto record = value_or_throw(space.core().find(parse_id(id)));
  if (!record || record->info.state != TaskState::running || record->info.version != version) {
    throw Refusal{lease_lost(id)};
  }
  auto handler = space.handler(record->info.handler);
  const auto number = space.core().handlers().snapshot()->by_name.at(record->info.handler);
  return std::make_shared<engine::Run>(*std::move(record), std::move(handler), number, Instant::max());
}

// The same, whose worker has an answer.
RunPtr answered_run(Space& space, const std::string& id, std::int64_t version) {
  RunPtr run = lent_run(space, id, version);
  if (const auto since = space.lent_out().answered(run->ticket())) run->started = *since;
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
  const RunPtr run = answered_run(*call.space, id, version);
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
    throw Refusal{{422, "invalid", "give_up and retry_after_ms contradict each other; give one of them"}};
  }
  const RunPtr run = answered_run(*call.space, id, version);
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
  lent_run(*call.space, id, renewal.ticket.version);  // of this namespace
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
