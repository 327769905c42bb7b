#include "remote/remote_store.h"

#include <algorithm>

#include "base/time_text.h"
#include "task/list_cursor.h"
#include "task/record.h"

namespace easyretry::remote {
namespace {

constexpr Millis kBeyondTheWait{10'000};  // for the response to a lease, after its own wait
constexpr std::size_t kMostAPage = 1000;
constexpr std::size_t kAroundAResult = 65'536;  // more than the rest of an outcome takes in a request
constexpr std::string_view kInsert = "remote.insert";

bool is_too_long(const Piece& piece) {
  return piece.body.size() > kMostBodyBytes;
}

std::string too_long(std::size_t bytes) {
  return "one task needs a request of " + std::to_string(bytes) + " bytes, but a daemon accepts " +
         std::to_string(kMostBodyBytes) + " bytes: store less with the task";
}

HttpRequest post(std::string target, std::string body) {
  return {.method = HttpRequest::Method::post, .target = std::move(target), .body = std::move(body)};
}

HttpRequest patch(std::string target, std::string body) {
  return {.method = HttpRequest::Method::patch, .target = std::move(target), .body = std::move(body)};
}

HttpRequest get(std::string target) {
  return {.target = std::move(target)};
}

// Passes a successful answer to `read`. If `read` throws JsonError, the answer is not one that this program
// understands.
template <class Read>
auto understood(std::string_view where, const Result<ApiAnswer>& answer, Read read) -> Result<decltype(read(*answer))> {
  if (!answer) return tl::make_unexpected(answer.error());
  try {
    return read(*answer);
  } catch (const JsonError& e) {
    return fail(Errc::in_doubt, where, std::string{"cannot read the daemon's response: "} + e.what());
  }
}

std::string lease_text(const LeaseRequest& wanted) {
  JsonWriter out;
  const auto names = [&](std::string_view key, const std::vector<std::string>& all) {
    out.key(key);
    out.begin_array();
    for (const std::string& name : all) out.string(name);
    out.end_array();
  };
  out.begin_object();
  names("handlers", wanted.handlers);
  names("tells", wanted.tells);
  out.key("judges");
  out.boolean(true);
  out.key("max");
  out.unsigned_integer(wanted.most);
  out.key("wait_ms");
  out.integer(wanted.wait.count());
  out.key("lease_ms");
  out.integer(wanted.lease.count());
  out.end_object();
  return out.take();
}

std::string query_text(const TaskQuery& query) {
  std::string text = query.finished ? "/v1/history" : "/v1/tasks";
  char sign = '?';
  const auto add = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text.append(1, std::exchange(sign, '&')).append(name).append("=").append(percent_encoded(value));
  };
  const auto add_time = [&](std::string_view name, const std::optional<TimePoint>& time) {
    if (time) add(name, base::to_text(*time));
  };
  add("key", query.key);
  add("handler", query.handler);
  add("business_type", query.business_type);
  add("business_id", query.business_id);
  if (query.state) add("state", to_string(*query.state));
  if (query.outcome) add("outcome", to_string(*query.outcome));
  add_time("created_from", query.created_at.from);
  add_time("created_until", query.created_at.until);
  add_time("finished_from", query.finished_at.from);
  add_time("finished_until", query.finished_at.until);
  if (query.finished && query.requeued) add("requeued", "true");
  add("order", to_string(query.order));
  if (query.after != TaskId{}) add("after", to_text(task::ListCursor{query.order, query.after}));
  add("limit", std::to_string(std::clamp<std::size_t>(query.limit, 1, kMostAPage)));
  return text;
}

bool is_gone(const Error& error) {
  return error.code == Errc::not_found || error.code == Errc::conflict;
}

std::string path_of(TaskId id, std::string_view verb = {}) {
  return "/v1/tasks/" + to_string(id) + std::string{verb};
}

std::string_view verb_of(Outcome outcome) {
  if (outcome == Outcome::cancelled) return "/cancel";
  return outcome == Outcome::succeeded ? "/complete" : "/fail";
}

}  // namespace

storage::StoreInfo RemoteStore::info() const {
  return {.url = api_.url(),
          .durability = {"what the daemon's store guarantees"},
          .shared = true,
          .indexes_handlers = true,
          .is_daemon = true};
}

Result<LeaseReply> RemoteStore::lease(const LeaseRequest& wanted, std::stop_token stop) {
  HttpRequest request = post("/v1/leases", lease_text(wanted));
  request.within = wanted.wait + kBeyondTheWait;
  request.stop = std::move(stop);
  return understood("remote.lease", api_.ask("remote.lease", request), [&](const ApiAnswer& answer) {
    LeaseReply reply{answer.now, {}};
    const JsonView tasks = need(answer.json.root(), "tasks");
    for (std::size_t i = 0; i < tasks.size(); ++i) reply.tasks.push_back(read_task(tasks.at(i), sealed_));
    return reply;
  });
}

// The daemon assigns the ids: what is in doubt after several tries remains so.
storage::InsertResult RemoteStore::insert(std::span<const task::NewTask> tasks) {
  auto pieces = task_pieces(tasks, kMostBodyBytes);
  storage::InsertReply all;
  if (const auto largest = std::ranges::find_if(pieces, is_too_long); largest != pieces.end()) {
    return fail(Errc::invalid_argument, kInsert, too_long(largest->body.size()));
  }
  if (pieces.size() > 1) {
    if (auto taken = taken_key(tasks)) return tl::make_unexpected(*std::move(taken));
  }
  for (Piece& piece : pieces) {
    auto reply = insert_piece(std::move(piece.body));
    if (!reply) {
      if (!all.tasks.empty()) {
        reply.error().code = Errc::in_doubt;
        reply.error().detail += "; the first " + std::to_string(all.tasks.size()) + " tasks of the batch are stored";
      }
      return tl::make_unexpected(reply.error());
    }
    all.now = reply->now;
    std::ranges::move(reply->tasks, std::back_inserter(all.tasks));
  }
  return all;
}

Result<storage::InsertReply> RemoteStore::insert_piece(std::string body) {
  const auto answer = api_.ask_once(kInsert, post("/v1/tasks", std::move(body)));
  return understood(kInsert, answer, [](const ApiAnswer& said) {
    storage::InsertReply reply{said.now, {}};
    const JsonView stored = need(said.json.root(), "tasks");
    for (std::size_t i = 0; i < stored.size(); ++i) reply.tasks.push_back(read_inserted(stored.at(i)));
    return reply;
  });
}

std::optional<Error> RemoteStore::taken_key(std::span<const task::NewTask> tasks) {
  for (const task::NewTask& task : tasks) {
    if (task.on_duplicate != OnDuplicate::reject) continue;
    const auto live = page({.key = task.key, .limit = 1});
    if (!live) return live.error();
    if (!live->empty()) return Error{Errc::already_exists, std::string{kInsert}, "the key " + task.key + " is taken"};
  }
  return std::nullopt;
}

Result<storage::LoadReply> RemoteStore::load(const storage::LoadQuery&) {
  return fail(Errc::invalid_argument, "remote.load", "tasks of a daemon are leased, not loaded");
}

Result<storage::ClaimReply> RemoteStore::claim(const storage::ClaimRequest&) {
  return fail(Errc::invalid_argument, "remote.claim", "tasks of a daemon are leased, not claimed");
}

// A result that is too long is refused before the batch is written: writing 20 MB takes a tenth of a second, and the
// engine halves a refused batch until the outcome is alone.
Result<storage::Applied> RemoteStore::settle(std::span<const task::Settlement> settlements) {
  constexpr std::string_view kWhere = "remote.settle";
  for (const task::Settlement& settlement : settlements) {
    if (settlement.result.size() + kAroundAResult <= kMostBodyBytes) continue;
    return fail(Errc::invalid_argument, kWhere, too_long(settlement.result.size()));
  }
  return applied(kWhere, "/v1/leases/settle", settlement_pieces(settlements, kMostBodyBytes));
}

Result<storage::Applied> RemoteStore::renew(std::span<const storage::Renewal> renewals) {
  return applied("remote.renew", "/v1/leases/renew", renewal_pieces(renewals, kMostBodyBytes));
}

Result<storage::Applied> RemoteStore::applied(std::string_view where, const std::string& target,
                                              std::vector<Piece> pieces) {
  storage::Applied all;
  for (Piece& piece : pieces) {
    const std::size_t before = all.applied.size();
    all.applied.resize(before + piece.count, false);
    if (!all.trouble) {
      const auto answer = api_.ask(where, post(target, std::move(piece.body)));
      const auto read = understood(where, answer, [&](const ApiAnswer& said) {
        const JsonView which = need(said.json.root(), "applied");
        if (which.size() != piece.count) which.fail("one answer for each task");
        for (std::size_t i = 0; i < piece.count; ++i) all.applied[before + i] = which.at(i).as_bool();
        return said.now;
      });
      if (!read && before == 0) return tl::make_unexpected(read.error());
      if (!read) all.trouble = read.error();
      if (read) all.now = *read;
    }
    if (!all.trouble) continue;
    for (std::size_t i = before; i < all.applied.size(); ++i) {
      all.applied[i] = false;
      all.unanswered.push_back(i);
    }
  }
  return all;
}

Result<std::vector<task::TaskRecord>> RemoteStore::find(std::span<const TaskId> ids) {
  std::vector<task::TaskRecord> found;
  for (const TaskId id : ids) {
    const auto answer = api_.ask("remote.find", get(path_of(id)));
    if (!answer && is_gone(answer.error())) continue;
    auto record =
        understood("remote.find", answer, [&](const ApiAnswer& said) { return read_task(said.json.root(), sealed_); });
    if (!record) return tl::make_unexpected(record.error());
    found.push_back(*std::move(record));
  }
  return found;
}

Result<std::optional<task::TaskRecord>> RemoteStore::find_when_ended(TaskId id, Millis wait, std::stop_token stop) {
  constexpr std::string_view kWhere = "remote.wait";
  HttpRequest request = get(path_of(id, "?result&wait_ms=" + std::to_string(wait.count())));
  request.within = wait + kBeyondTheWait;
  request.stop = std::move(stop);
  const auto answer = api_.ask(kWhere, request);
  if (!answer && is_gone(answer.error())) return std::nullopt;
  return understood(kWhere, answer,
                    [&](const ApiAnswer& said) { return std::optional{read_task(said.json.root(), sealed_)}; });
}

Result<std::vector<task::TaskRecord>> RemoteStore::list(const TaskQuery& query) {
  std::vector<task::TaskRecord> all;
  TaskQuery rest = query;
  while (rest.limit > 0) {
    auto some = page(rest);
    if (!some) return some;
    const bool last = some->size() < std::min(rest.limit, kMostAPage);
    std::move(some->begin(), some->end(), std::back_inserter(all));
    if (last) break;
    rest.limit = query.limit - all.size();
    rest.after = all.back().info.id;
  }
  return all;
}

Result<std::vector<task::TaskRecord>> RemoteStore::page(const TaskQuery& query) {
  const auto answer = api_.ask("remote.list", get(query_text(query)));
  return understood("remote.list", answer, [&](const ApiAnswer& said) {
    std::vector<task::TaskRecord> tasks;
    const JsonView list = need(said.json.root(), "tasks");
    for (std::size_t i = 0; i < list.size(); ++i) tasks.push_back(read_task(list.at(i), sealed_));
    return tasks;
  });
}

Result<std::int64_t> RemoteStore::count(const TaskQuery&) {
  return fail(Errc::invalid_argument, "remote.count",
              "a daemon does not count by conditions; counts() has its numbers by handler");
}

Result<Counts> RemoteStore::counts(std::string_view) {
  return understood("remote.counts", api_.ask("remote.counts", get("/v1/handlers")), [](const ApiAnswer& said) {
    Counts counts;
    const JsonView handlers = need(said.json.root(), "handlers");
    for (std::size_t i = 0; i < handlers.size(); ++i) {
      const JsonView one = handlers.at(i);
      Tally& total = counts[std::string{need(one, "name").as_string()}].total;
      total.stored = need(one, "stored").as_int();
      for (const auto [name, number] : need(one, "ended").members()) {
        if (const auto outcome = task::outcome_named(name)) total.ended[*outcome] = number.as_int();
      }
    }
    return counts;
  });
}

// The daemon decides whether a callback is called: only if a worker may have one for this handler.
Result<storage::Applied> RemoteStore::end(std::span<const task::Ending> endings) {
  storage::Applied reply;
  for (const task::Ending& ending : endings) {
    const auto answer = api_.ask("remote.end", post(path_of(ending.id, verb_of(ending.outcome)), ending_text(ending)));
    if (!answer && !is_gone(answer.error())) return tl::make_unexpected(answer.error());
    reply.applied.push_back(answer.has_value());
    if (answer) reply.now = answer->now;
  }
  return reply;
}

// The daemon compares versions itself.
Result<storage::Applied> RemoteStore::revise(std::span<const task::Revision> revisions) {
  constexpr std::string_view kWhere = "remote.revise";
  storage::Applied reply;
  for (const auto& [ticket, delay, rules] : revisions) {
    if (delay && *delay != Millis{0}) {
      return fail(Errc::invalid_argument, kWhere,
                  "a task of a daemon can only be retried now, not after another delay");
    }
    const auto answer = rules ? api_.ask(kWhere, patch(path_of(ticket.id, ""), rules_text(*rules)))
                              : api_.ask(kWhere, post(path_of(ticket.id, "/retry"), "{}"));
    if (!answer && !is_gone(answer.error())) return tl::make_unexpected(answer.error());
    reply.applied.push_back(answer.has_value());
    if (answer) reply.now = answer->now;
  }
  return reply;
}

Result<std::vector<std::optional<TaskId>>> RemoteStore::requeue(std::span<const TaskId> ids,
                                                                std::optional<TaskClass> as) {
  std::vector<std::optional<TaskId>> started;
  for (const TaskId id : ids) {
    const auto again = requeue_one(id, requeue_text({}, as));
    if (!again) return tl::make_unexpected(again.error());
    started.push_back(*again);
  }
  return started;
}

Result<std::optional<TaskId>> RemoteStore::requeue_with(TaskId id, std::string_view arguments,
                                                        std::optional<TaskClass> as) {
  if (sealed_) {
    return fail(Errc::invalid_argument, "remote.requeue",
                "encrypted arguments of an ended task cannot be changed through a daemon; submit a new task");
  }
  return requeue_one(id, requeue_text(arguments, as));
}

Result<std::optional<TaskId>> RemoteStore::requeue_one(TaskId id, std::string body) {
  const auto answer = api_.ask("remote.requeue", post(path_of(id, "/requeue"), std::move(body)));
  if (!answer && is_gone(answer.error())) return std::nullopt;
  return understood("remote.requeue", answer,
                    [](const ApiAnswer& said) { return std::optional{read_id(need(said.json.root(), "id"))}; });
}

Result<bool> RemoteStore::pause(std::string_view, std::string_view handler, std::string_view why) {
  JsonWriter body;
  body.begin_object();
  body.key("why");
  body.string(why);
  body.end_object();
  return change_handler("remote.pause", handler, "/pause", body.take());
}

Result<bool> RemoteStore::resume(std::string_view, std::string_view handler) {
  return change_handler("remote.resume", handler, "/resume", "{}");
}

Result<bool> RemoteStore::change_handler(std::string_view where, std::string_view handler, std::string_view how,
                                         std::string body) {
  const std::string path = "/v1/handlers/" + percent_encoded(handler) + std::string{how};
  return understood(where, api_.ask(where, post(path, std::move(body))),
                    [](const ApiAnswer& said) { return need(said.json.root(), "changed").as_bool(); });
}

Result<storage::PausedReply> RemoteStore::paused(std::string_view) {
  return understood("remote.paused", api_.ask("remote.paused", get("/v1/handlers")), [](const ApiAnswer& said) {
    storage::PausedReply reply{said.now, {}};
    const JsonView handlers = need(said.json.root(), "handlers");
    for (std::size_t i = 0; i < handlers.size(); ++i) {
      const JsonView one = handlers.at(i);
      const auto paused = one.find("paused");
      if (!paused) continue;
      reply.handlers.push_back({std::string{need(one, "name").as_string()}, read_time(need(*paused, "since")),
                                std::string{need(*paused, "why").as_string()}});
    }
    return reply;
  });
}

}  // namespace easyretry::remote
