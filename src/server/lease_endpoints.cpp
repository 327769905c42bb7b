// /v1/leases: workers in other processes lease tasks, run them and report the outcome. Each request carries the version
// of the lease, so a late one changes nothing.

#include <algorithm>

#include "base/json_copy.h"
#include "call/errors.h"
#include "engine/attempt.h"
#include "policy/limits.h"
#include "server/endpoints.h"
#include "server/lease_queue.h"
#include "server/refusal.h"
#include "server/request_fields.h"
#include "server/task_answers.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using engine::RunPtr;
using http::Method;

constexpr std::size_t kMostHandlersALease = 1000;
constexpr std::int64_t kMostALease = 1000;
constexpr Millis kLongestWorkWait{60'000};
// Tasks are claimed only on request, so even a request without a wait needs the time of a claim.
constexpr Millis kShortestWait{200};

struct LeaseTerms {
  std::optional<Millis> lease;  // nullopt: the engine's default
  bool judges = false;          // the worker applies policies and calls callbacks itself
};

using LeasedTasks = std::vector<std::pair<task::TaskRecord, std::string>>;

http::Response leased(const LeasedTasks& tasks, const LeaseTerms& terms) {
  TaskPage page;
  page.tasks.reserve(tasks.size());
  for (const auto& [record, arguments] : tasks) {
    TaskAnswer& task = page.tasks.emplace_back(shown(record));
    task.args = ShownJson{arguments};
    if (!terms.judges) continue;
    task.payload_version = record.payload_version;
    task.callback_attempts = record.callback_attempts;
    if (!record.result.empty()) task.result = ShownJson{record.result};
  }
  return {.body = to_json(page)};
}

// Sends claimed tasks to the worker whose request waits for them.
class Lender {
 public:
  Lender(std::shared_ptr<Namespace> name_space, ApiThreads& threads, LeaseTerms terms, http::Respond respond,
         std::string request_id)
      : namespace_(std::move(name_space)),
        threads_(threads),
        terms_(terms),
        respond_(std::move(respond)),
        request_id_(std::move(request_id)) {}

  void lend(const std::vector<RunPtr>& runs) const {
    answer(respond_, request_id_, [&] { respond_(lent(runs)); });
  }

 private:
  engine::Core& core() const { return namespace_->core(); }

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
    const Millis lease = until ? *terms_.lease : core().options().lease;
    core().let_go(begun, lease);
    LeasedTasks tasks;
    for (std::size_t i = 0; i < begun.size(); ++i) {
      // After let_go(): the worker enforces the timeout itself.
      const Instant now = core().mark_started(*begun[i]);
      namespace_->leases().begin(begun[i]->ticket(), begun[i]->record.info.handler, now, now + lease);
      tasks.emplace_back(begun[i]->record, std::move(arguments[i]));
      if (until) tasks.back().first.lease_until = *until;
      if (terms_.judges) open_result(tasks.back().first);
    }
    http::Response response = leased(tasks, terms_);
    response.sent = [name_space = namespace_, &threads = threads_, begun](bool written) {
      if (!written) threads.put_anyway([name_space, begun] { hand_back(*name_space, begun); });
    };
    return response;
  }

  // A worker that judges also decides which tasks to run. Arguments that cannot be decrypted are handled here.
  engine::AttemptStart begin(engine::Run& run) const {
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

  // The worker did not receive them, so the attempt does not count.
  static void hand_back(Namespace& name_space, const std::vector<RunPtr>& runs) {
    for (const RunPtr& run : runs) {
      name_space.leases().end(run->ticket());
      name_space.core().settle_started(run, engine::handed_back(*run));
    }
  }

  const std::shared_ptr<Namespace> namespace_;
  ApiThreads& threads_;
  const LeaseTerms terms_;
  const http::Respond respond_;
  const std::string request_id_;
};

void lease(ApiThreads& threads, const Call& call, const http::Respond& respond) {
  require_known(call.request, {});
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  LeaseQueue::Request ask;
  ask.handlers = fields.texts("handlers", kMostHandlersALease);
  ask.most = static_cast<std::size_t>(fields.number("max", 1, 1, kMostALease));
  const Millis wait = std::max(kShortestWait, fields.millis("wait_ms", kLongestWorkWait).value_or(Millis{0}));
  const LeaseTerms terms{fields.millis("lease_ms", kLongestLease), fields.flag("judges", false)};
  const auto tells = fields.texts("tells", kMostHandlersALease);
  fields.end();
  if (!tells.empty() && !terms.judges) throw Refusal{{422, "invalid", "tells needs judges: true"}};
  if (ask.handlers.empty())
    throw Refusal{{422, "invalid", "handlers is missing or empty; list the handlers that you serve"}};
  for (const std::string& name : ask.handlers) call.name_space->handler(name);
  for (const std::string& name : tells) call.name_space->leave_final_failures_to_workers(name);
  using Worker = LeaseQueue::Worker;
  call.name_space->lease_queue().asked_by(terms.judges ? Worker::judges : Worker::plain, ask.handlers);
  ask.until = system_clock().steady() + wait;

  const auto lender = std::make_shared<const Lender>(call.name_space, threads, terms, respond, call.request.id);
  ask.lend = [lender, &threads](std::vector<RunPtr> runs) {
    threads.put_anyway([lender, runs = std::move(runs)] { lender->lend(runs); });
  };
  const std::uint64_t number = call.name_space->lease_queue().wait(std::move(ask));
  // The connection may keep this function longer than the response, so it must not own an owner of the connection.
  call.request.when_gone([name_space = call.name_space, number, weak = std::weak_ptr{lender}] {
    const auto waiting = weak.lock();
    if (waiting && name_space->lease_queue().leave(number)) waiting->lend({});
  });
}

http::Problem lease_lost(const std::string& id) {
  return {409, "lease_lost",
          "task " + id +
              " is no longer leased to you: the lease expired, or the task was settled, cancelled, completed or "
              "failed by a user",
          "stop working on it; nothing was changed"};
}

// The task of a lease. Throws Refusal if the lease is lost.
RunPtr leased_run(Namespace& name_space, const std::string& id, std::int64_t version) {
  auto record = value_or_throw(name_space.core().find(parse_id(id)));
  if (!record || record->info.state != TaskState::running || record->info.version != version) {
    throw Refusal{lease_lost(id)};
  }
  auto handler = name_space.handler(record->info.handler);
  const auto number = name_space.core().handlers().snapshot()->by_name.at(record->info.handler);
  return std::make_shared<engine::Run>(*std::move(record), std::move(handler), number, Instant::max());
}

// The same, with the start time of the attempt that ends now.
RunPtr ended_run(Namespace& name_space, const std::string& id, std::int64_t version) {
  RunPtr run = leased_run(name_space, id, version);
  if (const auto since = name_space.leases().end(run->ticket())) run->started = *since;
  return run;
}

std::int64_t version_of(Fields& fields) {
  return fields.need_whole("version");
}

struct SettledAnswer {
  std::string_view id;
  std::optional<std::string_view> outcome{};
  std::optional<Millis> retry_in_ms{};  // instead of an outcome
};
EASYRETRY_JSON(SettledAnswer, id, outcome, retry_in_ms)

http::Response settled(Namespace& name_space, const std::string& id, const RunPtr& run, task::Settlement settlement) {
  SettledAnswer answer{id};
  if (settlement.kind == task::Settlement::Kind::retry) {
    answer.retry_in_ms = settlement.delay;
  } else {
    answer.outcome = to_string(settlement.outcome);
  }
  if (!value_or_throw(name_space.core().settle_now(run, std::move(settlement)))) throw Refusal{lease_lost(id)};
  return {.body = to_json(answer)};
}

http::Response done(const Call& call) {
  require_known(call.request, {});
  const std::string& id = call.request.parameters.at("id");
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  const std::int64_t version = version_of(fields);
  const auto result = fields.find("result");
  fields.end();
  const RunPtr run = ended_run(*call.name_space, id, version);
  auto& core = call.name_space->core();
  const auto arguments = value_or_throw(core.payloads().open_arguments(run->record));
  detail::Reply reply{.result = result ? base::canonical_json(*result) : "null"};
  return settled(*call.name_space, id, run, core.end_attempt(*run, std::move(reply), arguments));
}

http::Response fail_attempt(const Call& call) {
  require_known(call.request, {});
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
  const RunPtr run = ended_run(*call.name_space, id, version);
  const Answer said = for_good         ? easyretry::give_up(why)
                      : retry_after_ms ? easyretry::retry_after(*retry_after_ms, why)
                                       : easyretry::retry_later(why);
  return settled(*call.name_space, id, run,
                 call.name_space->core().end_attempt(*run, detail::Reply{.answer = said}, "[]"));
}

struct RenewedAnswer {
  ShownTime lease_until;
};
EASYRETRY_JSON(RenewedAnswer, lease_until)

http::Response renew(const Call& call) {
  require_known(call.request, {});
  const std::string& id = call.request.parameters.at("id");
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  storage::Renewal renewal;
  renewal.ticket = {parse_id(id), version_of(fields)};
  auto& core = call.name_space->core();
  renewal.lease = fields.millis("lease_ms", kLongestLease).value_or(core.options().lease);
  if (const auto progress = fields.find("progress")) renewal.progress = std::string{progress->as_string()};
  fields.end();
  const RunPtr run = leased_run(*call.name_space, id, renewal.ticket.version);  // checks the namespace
  const auto reply = value_or_throw(core.renew({&renewal, 1}));
  if (!reply.applied.front()) throw Refusal{lease_lost(id)};
  call.name_space->leases().renew(renewal.ticket, run->record.info.handler, system_clock().steady() + renewal.lease);
  return {.body = to_json(RenewedAnswer{reply.now + renewal.lease})};
}

}  // namespace

void add_lease_endpoints(Api& api) {
  api.add(Method::post, "/v1/leases", Right::work,
          Endpoint{[&api](const Call& call, const http::Respond& respond) { lease(api.threads(), call, respond); }},
          kBodyOfNames);
  api.add(Method::post, "/v1/leases/{id}/done", Right::work, PlainEndpoint{done}, kLongBody);
  api.add(Method::post, "/v1/leases/{id}/fail", Right::work, PlainEndpoint{fail_attempt}, kLongBody);
  api.add(Method::post, "/v1/leases/{id}/renew", Right::work, PlainEndpoint{renew});
}

}  // namespace easyretry::server
