#include "remote/remote_store.h"

#include <algorithm>

#include "base/time_text.h"
#include "remote/task_text.h"
#include "task/record.h"

namespace easyretry::remote {
namespace {

constexpr Millis kBeyondTheWait{10'000};  // for the answer to a lease, which waits itself
constexpr std::size_t kMostAPage = 1000;

HttpRequest post(std::string target, std::string body) {
  return {.method = HttpRequest::Method::post, .target = std::move(target), .body = std::move(body)};
}

HttpRequest patch(std::string target, std::string body) {
  return {.method = HttpRequest::Method::patch, .target = std::move(target), .body = std::move(body)};
}

HttpRequest get(std::string target) {
  return {.target = std::move(target)};
}

// What `read` makes of an answer that this program can read.
template <class Read>
auto understood(std::string_view where, const Result<ApiAnswer>& answer, Read read) -> Result<decltype(read(*answer))> {
  if (!answer) return tl::make_unexpected(answer.error());
  try {
    return read(*answer);
  } catch (const JsonError& e) {
    return fail(Errc::in_doubt, where, std::string{"the daemon's answer is not understood: "} + e.what());
  }
}

std::string lease_text(const LeaseWish& wish) {
  JsonWriter out;
  const auto names = [&](std::string_view key, const std::vector<std::string>& all) {
    out.key(key);
    out.begin_array();
    for (const std::string& name : all) out.string(name);
    out.end_array();
  };
  out.begin_object();
  names("handlers", wish.handlers);
  names("tells", wish.tells);
  out.key("judges");
  out.boolean(true);
  out.key("max");
  out.unsigned_integer(wish.most);
  out.key("wait_ms");
  out.integer(wish.wait.count());
  out.key("lease_ms");
  out.integer(wish.lease.count());
  out.end_object();
  return out.take();
}

std::string query_text(const TaskQuery& query) {
  std::string text = query.finished ? "/v1/history" : "/v1/tasks";
  char sign = '?';
  const auto add = [&](std::string_view name, const std::string& value) {
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
  if (query.state) add("state", task::name_of(*query.state));
  if (query.outcome) add("outcome", task::name_of(*query.outcome));
  add_time("created_from", query.created_at.from);
  add_time("created_until", query.created_at.until);
  add_time("finished_from", query.finished_at.from);
  add_time("finished_until", query.finished_at.until);
  if (query.finished && query.requeued) add("requeued", "true");
  if (query.after != TaskId{}) add("after", to_string(query.after));
  add("limit", std::to_string(std::clamp<std::size_t>(query.limit, 1, kMostAPage)));
  return text;
}

bool is_gone(const Error& error) {
  return error.code == Errc::not_found || error.code == Errc::conflict;
}

std::string path_of(TaskId id, std::string_view verb = {}) {
  return "/v1/tasks/" + to_string(id) + std::string{verb};
}

}  // namespace

storage::StoreInfo RemoteStore::info() const {
  return {.url = api_.url(), .durability = {"what it survives in the daemon's own store"}, .shared = true};
}

Result<LeaseReply> RemoteStore::lease(const LeaseWish& wish, std::stop_token stop) {
  HttpRequest request = post("/v1/leases", lease_text(wish));
  request.within = wish.wait + kBeyondTheWait;
  request.stop = std::move(stop);
  return understood("remote.lease", api_.ask("remote.lease", request), [&](const ApiAnswer& answer) {
    LeaseReply reply{answer.now, {}};
    const JsonView tasks = need(answer.json.root(), "tasks");
    for (std::size_t i = 0; i < tasks.size(); ++i) reply.tasks.push_back(read_task(tasks.at(i), sealed_));
    return reply;
  });
}

// Ids are drawn by the daemon: what is in doubt after several tries stays so.
storage::InsertResult RemoteStore::insert(std::span<const task::NewTask> tasks) {
  if (tasks.empty()) return storage::InsertReply{};
  const auto answer = api_.ask_once("remote.insert", post("/v1/tasks", tasks_text(tasks)));
  return understood("remote.insert", answer, [](const ApiAnswer& said) {
    storage::InsertReply reply{said.now, {}};
    const JsonView stored = need(said.json.root(), "tasks");
    for (std::size_t i = 0; i < stored.size(); ++i) reply.tasks.push_back(read_inserted(stored.at(i)));
    return reply;
  });
}

Result<storage::LoadReply> RemoteStore::load(const storage::LoadQuery&) {
  return fail(Errc::invalid_argument, "remote.load", "tasks of a daemon are leased, not read");
}

Result<storage::ClaimReply> RemoteStore::claim(const storage::ClaimRequest&) {
  return fail(Errc::invalid_argument, "remote.claim", "tasks of a daemon are leased, not claimed");
}

Result<storage::Applied> RemoteStore::settle(std::span<const task::Settlement> settlements) {
  return applied("remote.settle", "/v1/leases/settle", settlements_text(settlements), settlements.size());
}

Result<storage::Applied> RemoteStore::renew(std::span<const storage::Renewal> renewals) {
  return applied("remote.renew", "/v1/leases/renew", renewals_text(renewals), renewals.size());
}

Result<storage::Applied> RemoteStore::applied(std::string_view where, std::string target, std::string body,
                                              std::size_t n) {
  if (n == 0) return storage::Applied{};
  const auto answer = api_.ask(where, post(std::move(target), std::move(body)));
  return understood(where, answer, [&](const ApiAnswer& said) {
    const JsonView which = need(said.json.root(), "applied");
    if (which.size() != n) which.fail("one answer for each task");
    storage::Applied reply{said.now, {}};
    for (std::size_t i = 0; i < n; ++i) reply.applied.push_back(which.at(i).as_bool());
    return reply;
  });
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
              "a daemon does not count by conditions; counts() has what it keeps, by handler");
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

// Whether its owner is told is the daemon's to know: of handlers that some worker tells.
Result<storage::Applied> RemoteStore::cancel(std::span<const TaskId> ids, storage::Cancel) {
  storage::Applied reply;
  for (const TaskId id : ids) {
    const auto answer = api_.ask("remote.cancel", post(path_of(id, "/cancel"), "{}"));
    if (!answer && !is_gone(answer.error())) return tl::make_unexpected(answer.error());
    reply.applied.push_back(answer.has_value());
    if (answer) reply.now = answer->now;
  }
  return reply;
}

// The daemon compares versions itself, of what it finds.
Result<storage::Applied> RemoteStore::revise(std::span<const task::Revision> revisions) {
  constexpr std::string_view kWhere = "remote.revise";
  storage::Applied reply;
  for (const auto& [ticket, delay, rules] : revisions) {
    if (delay && *delay != Millis{0}) {
      return fail(Errc::invalid_argument, kWhere, "a task of a daemon is retried now, or at its time");
    }
    const auto answer = rules ? api_.ask(kWhere, patch(path_of(ticket.id, ""), rules_text(*rules)))
                              : api_.ask(kWhere, post(path_of(ticket.id, "/retry"), "{}"));
    if (!answer && !is_gone(answer.error())) return tl::make_unexpected(answer.error());
    reply.applied.push_back(answer.has_value());
    if (answer) reply.now = answer->now;
  }
  return reply;
}

Result<std::vector<std::optional<TaskId>>> RemoteStore::requeue(std::span<const TaskId> ids) {
  std::vector<std::optional<TaskId>> started;
  for (const TaskId id : ids) {
    const auto answer = api_.ask("remote.requeue", post(path_of(id, "/requeue"), "{}"));
    if (!answer && is_gone(answer.error())) {
      started.emplace_back();
      continue;
    }
    const auto again = understood("remote.requeue", answer,
                                  [](const ApiAnswer& said) { return read_id(need(said.json.root(), "id")); });
    if (!again) return tl::make_unexpected(again.error());
    started.emplace_back(*again);
  }
  return started;
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
