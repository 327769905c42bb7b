#include "sim/faulty_store.h"

#include <algorithm>

#include "sim/clocks.h"
#include "sim/user_code.h"

namespace easyretry::sim {

using storage::Applied;
using task::NewTask;
using task::Settlement;
using task::TaskRecord;
using task::Ticket;
using Fate = Weather::Fate;

namespace {

template <class T>
std::vector<T> copy(std::span<const T> items) {
  return {items.begin(), items.end()};
}

}  // namespace

template <class Request>
auto FaultyStore::read(std::string_view verb, Request request) -> decltype(request()) {
  const Fate fate = weather_.fate_of_call(far_.instance);
  return travel(verb, std::move(request), fate == Fate::late ? Fate::request_lost : fate, Errc::unavailable);
}

template <class Request>
auto FaultyStore::change(std::string_view verb, Request request) -> decltype(request()) {
  const Fate fate = weather_.fate_of_call(far_.instance);
  const bool too_late = fate == Fate::late && !far_.store->may_be_late(verb);
  return travel(verb, std::move(request), too_late ? Fate::request_lost : fate, Errc::in_doubt);
}

template <class Request>
auto FaultyStore::travel(std::string_view verb, Request request, Fate fate, Errc when_lost) -> decltype(request()) {
  const auto hit = [&](Fault fault, Time lasting) {
    const TimePoint until = kWorldBegan + std::chrono::ceil<Millis>(process_.scheduler().now() + lasting);
    far_.write(Hit{fault, verb, until});
  };
  const auto die = [&](Fault fault) {
    hit(fault, Time{0});
    process_.die();
  };
  const auto give_up = [&](Fault fault, Errc code) {
    const Time patience = weather_.time_out();
    hit(fault, patience);
    process_.sleep(patience);
    return fail(code, "sim", "no reply from the store");
  };

  const Time there = fate == Fate::slow ? weather_.slow_way() : weather_.one_way();
  const Time back = fate == Fate::slow ? weather_.slow_way() : weather_.one_way();
  if (fate == Fate::slow) hit(Fault::slow, there + back);
  process_.sleep(there);
  if (fate == Fate::death_before) die(Fault::death_before);
  if (fate == Fate::unavailable) return give_up(Fault::unavailable, Errc::unavailable);
  if (fate == Fate::request_lost) return give_up(Fault::request_lost, when_lost);
  if (fate == Fate::late) {
    process_.scheduler().at(process_.scheduler().now() + weather_.late_by(), [request] { request(); });
    return give_up(Fault::late, when_lost);
  }

  auto reply = request();
  if (fate == Fate::death_after) die(Fault::death_after);
  process_.sleep(back);
  if (fate == Fate::reply_lost) return give_up(Fault::reply_lost, when_lost);
  return reply;
}

storage::InsertResult FaultyStore::insert(std::span<const NewTask> tasks) {
  const auto ids = std::make_shared<std::vector<TaskId>>(far_.store->draw_ids(tasks));
  auto answer = change("insert", [far = far_, ids, tasks = copy(tasks)] {
    auto reply = far.store->insert_as(*ids, tasks);
    for (std::size_t i = 0; reply && i < tasks.size(); ++i) {
      const storage::Inserted& stored = reply->tasks[i];
      if (!stored.created) continue;
      far.write(Inserted{stored.id, stored.version, stored.next_at, tasks[i].key, tasks[i].handler,
                         tasks[i].rules.max_attempts});
    }
    return reply;
  });
  if (!answer && answer.error().code == Errc::in_doubt) answer.error().ids = *ids;
  return answer;
}

Result<storage::ClaimReply> FaultyStore::claim(const storage::ClaimRequest& request) {
  return change("claim", [far = far_, tickets = copy(request.tickets), owner = std::string{request.owner},
                          lease = request.lease, begin = request.begin] {
    auto reply = far.tasks().claim({tickets, owner, lease, begin});
    if (!reply) return reply;
    for (const Ticket& ticket : tickets) {
      const auto won = std::find_if(reply->won.begin(), reply->won.end(),
                                    [&](const TaskRecord& record) { return record.info.id == ticket.id; });
      if (won == reply->won.end()) {
        far.write(Refused{ticket.id, ticket.version, "claim"});
      } else {
        far.write(Claimed{ticket.id, ticket.version, won->info.version, won->lease_until, won->info.deliveries,
                          won->info.crashes});
      }
    }
    return reply;
  });
}

Result<Applied> FaultyStore::settle(std::span<const Settlement> settlements) {
  return change("settle", [far = far_, settlements = copy(settlements)]() -> Result<Applied> {
    // As a column that takes no such bytes would: the whole batch fails for one row.
    const auto unstorable = [](const Settlement& s) { return s.error.find(kUnstorable) != std::string::npos; };
    if (std::any_of(settlements.begin(), settlements.end(), unstorable)) {
      return fail(Errc::invalid_argument, "sim.settle", "a text cannot be stored");
    }
    auto reply = far.tasks().settle(settlements);
    for (std::size_t i = 0; reply && i < settlements.size(); ++i) {
      const Settlement& s = settlements[i];
      if (reply->applied[i]) {
        far.write(Settled{s.ticket.id, s.ticket.version, s.kind, s.outcome, s.delay});
      } else {
        far.write(Refused{s.ticket.id, s.ticket.version, "settle"});
      }
    }
    return reply;
  });
}

Result<Applied> FaultyStore::renew(std::span<const storage::Renewal> renewals) {
  for (const auto& renewal : renewals) far_.write(RenewTried{renewal.ticket.id, renewal.ticket.version});
  return change("renew", [far = far_, renewals = copy(renewals)] {
    auto reply = far.tasks().renew(renewals);
    for (std::size_t i = 0; reply && i < renewals.size(); ++i) {
      const auto& [id, version] = renewals[i].ticket;
      if (reply->applied[i]) {
        far.write(Renewed{id, version, reply->now + renewals[i].lease});
      } else {
        far.write(Refused{id, version, "renew"});
      }
    }
    return reply;
  });
}

Result<Applied> FaultyStore::revise(std::span<const storage::Revision> revisions) {
  return change("revise", [far = far_, revisions = copy(revisions)] {
    auto reply = far.tasks().revise(revisions);
    for (std::size_t i = 0; reply && i < revisions.size(); ++i) {
      const auto& [id, version] = revisions[i].ticket;
      if (reply->applied[i]) {
        far.write(Revised{id, version, revisions[i].delay});
      } else {
        far.write(Refused{id, version, "revise"});
      }
    }
    return reply;
  });
}

Result<Applied> FaultyStore::end(std::span<const task::Ending> endings) {
  return change("end", [far = far_, endings = copy(endings)] {
    auto reply = far.tasks().end(endings);
    for (std::size_t i = 0; reply && i < endings.size(); ++i) {
      if (reply->applied[i]) far.write(EndedByUser{endings[i]});
    }
    return reply;
  });
}

Result<std::vector<std::optional<TaskId>>> FaultyStore::requeue(std::span<const TaskId> ids,
                                                                std::optional<TaskClass> as) {
  return change("requeue", [far = far_, ids = copy(ids), as] {
    auto started = far.tasks().requeue(ids, as);
    for (std::size_t i = 0; started && i < ids.size(); ++i) {
      if (const auto id = (*started)[i]) far.write(Requeued{ids[i], *id});
    }
    return started;
  });
}

Result<std::optional<TaskId>> FaultyStore::requeue_with(TaskId id, std::string_view arguments,
                                                        std::optional<TaskClass> as) {
  return change("requeue", [far = far_, id, arguments = std::string{arguments}, as] {
    auto started = far.tasks().requeue_with(id, arguments, as);
    if (started && *started) far.write(Requeued{id, **started});
    return started;
  });
}

Result<storage::LoadReply> FaultyStore::load(const storage::LoadQuery& query) {
  return read("load", [&] { return far_.tasks().load(query); });
}

Result<std::vector<TaskRecord>> FaultyStore::find(std::span<const TaskId> ids) {
  return read("find", [&] { return far_.tasks().find(ids); });
}

Result<std::vector<TaskRecord>> FaultyStore::list(const storage::TaskQuery& query) {
  return read("list", [&] { return far_.tasks().list(query); });
}

Result<std::int64_t> FaultyStore::count(const storage::TaskQuery& query) {
  return read("count", [&] { return far_.tasks().count(query); });
}

Result<Counts> FaultyStore::counts(std::string_view name_space) {
  return read("counts", [far = far_, name_space = std::string{name_space}] { return far.tasks().counts(name_space); });
}

Result<storage::BeatReply> FaultyStore::beat(const storage::Beat& beat) {
  auto reply = change("beat", [far = far_, name_space = std::string{beat.name_space}, node = std::string{beat.node},
                               ttl = beat.ttl, says = std::string{beat.says}, handlers = beat.handlers] {
    return far.members().beat({.name_space = name_space, .node = node, .ttl = ttl, .says = says, .handlers = handlers});
  });
  // Lists of members are hints, and may be wrong; the announcements of limits are not.
  const bool hint = beat.name_space.find('\x1f') == std::string_view::npos;
  if (reply && hint && weather_.mix_up(reply->members, beat.node)) far_.write(Hit{Fault::views, "beat"});
  return reply;
}

Result<storage::BeatReply> FaultyStore::members(std::string_view name_space) {
  return read("members",
              [far = far_, name_space = std::string{name_space}] { return far.members().members(name_space); });
}

Result<bool> FaultyStore::leave(std::string_view name_space, std::string_view node) {
  return change("leave", [far = far_, name_space = std::string{name_space}, node = std::string{node}] {
    return far.members().leave(name_space, node);
  });
}

Result<bool> FaultyStore::pause(std::string_view name_space, std::string_view handler, std::string_view why) {
  return change("pause", [far = far_, name_space = std::string{name_space}, handler = std::string{handler},
                          why = std::string{why}] { return far.tasks().pause(name_space, handler, why); });
}

Result<bool> FaultyStore::resume(std::string_view name_space, std::string_view handler) {
  return change("resume", [far = far_, name_space = std::string{name_space}, handler = std::string{handler}] {
    return far.tasks().resume(name_space, handler);
  });
}

Result<storage::PausedReply> FaultyStore::paused(std::string_view name_space) {
  return read("paused", [&] { return far_.tasks().paused(name_space); });
}

Result<storage::KeepReport> FaultyStore::keep() {
  return read("keep", [&] { return far_.tasks().keep(); });
}

Result<bool> FaultyStore::expire(std::span<const storage::Retention> rules) {
  return read("expire", [&] { return far_.tasks().expire(rules); });
}

}  // namespace easyretry::sim
