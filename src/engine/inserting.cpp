#include "engine/inserting.h"

namespace easyretry::engine {
namespace {

// A reply that is lost again and again is reported as in doubt rather than tried for ever.
constexpr int kTries = 3;

}  // namespace

Inserting::Stored Inserting::insert(std::span<const task::NewTask> tasks) {
  const TimePoint since = context_.store_now();
  Stored inserted = send(tasks);
  if (!inserted && inserted.error().code == Errc::in_doubt) return resolve(tasks, since);
  return inserted;
}

Inserting::Stored Inserting::send(std::span<const task::NewTask> tasks) {
  auto reply = context_.ask(StoreVerb::insert, [&](storage::Store& store) { return store.insert(tasks); });
  if (!reply) return tl::make_unexpected(reply.error());
  return std::move(reply->tasks);
}

// Of the batch, something may be stored: for the caller that is in doubt, whatever one of them said.
Inserting::Stored Inserting::resolve(std::span<const task::NewTask> tasks, TimePoint since) {
  std::vector<storage::Inserted> all;
  for (const task::NewTask& task : tasks) {
    const Stored one = resolve(task, since);
    if (!one) {
      Error error = one.error();
      if (error.code == Errc::unavailable) error.code = Errc::in_doubt;
      return tl::make_unexpected(std::move(error));
    }
    all.push_back(one->front());
  }
  return all;
}

// Looks for the task by its key first; only what is nowhere is stored again. A task that was stored, run and left no
// history meanwhile cannot be seen: it is stored once more, which is what "at least once" means.
Inserting::Stored Inserting::resolve(const task::NewTask& task, TimePoint since) {
  Stored stored;
  for (int tries = 0; tries < kTries; ++tries) {
    const auto found = look(task, since);
    if (!found) {
      stored = fail(Errc::in_doubt, found.error().where, found.error().detail);
      continue;
    }
    if (*found) return confirmed(**found);
    stored = send({&task, 1});
    if (stored || stored.error().code == Errc::invalid_argument) break;
  }
  return stored;
}

// Where an insert waits for replicas, what is found instead does, too. No task has the version 0, so nothing is
// renewed.
Inserting::Stored Inserting::confirmed(const Found& found) {
  if (found.live && context_.store.info().waits_for_replicas) {
    const storage::Renewal nothing{{found.task.id, 0}, Millis{0}};
    const auto reply = context_.ask(StoreVerb::renew, [&](storage::Store& store) {
      return store.renew({&nothing, 1});
    });
    if (!reply) return fail(Errc::in_doubt, reply.error().where, reply.error().detail);
  }
  return std::vector{found.task};
}

Result<std::optional<Inserting::Found>> Inserting::look(const task::NewTask& task, TimePoint since) {
  storage::TaskQuery query;
  query.space = task.space;
  query.key = task.key;
  query.requeued = true;  // what was stored may have ended and been requeued meanwhile
  for (const bool finished : {false, true}) {
    query.finished = finished;
    const auto found = context_.store.list(query);
    if (!found) {
      context_.note(found.error());
      return tl::make_unexpected(found.error());
    }
    for (auto it = found->rbegin(); it != found->rend(); ++it) {
      const TaskInfo& info = it->info;
      if (finished && info.created_at < since) continue;  // an earlier life of the same key
      // Leased to somebody else: theirs was first, and theirs it is to run.
      const bool ours = task.lease == Millis{0} || it->locked_by == context_.owner;
      return Found{{info.id, info.version, info.next_at, info.created_at >= since && ours}, !finished};
    }
  }
  return std::nullopt;
}

}  // namespace easyretry::engine
