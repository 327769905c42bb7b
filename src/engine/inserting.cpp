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

// As long as nothing of the batch is found, it is sent again as a whole: a batch that is refused for one of its tasks
// stores none of them. Once something is found it has been accepted, and only what is missing is sent.
Inserting::Stored Inserting::resolve(std::span<const task::NewTask> tasks, TimePoint since) {
  for (int tries = 0; tasks.size() > 1 && tries < kTries; ++tries) {
    const auto some = is_any_stored(tasks, since);
    if (!some || *some) break;
    Stored stored = send(tasks);
    if (stored || stored.error().code != Errc::in_doubt) return stored;
  }
  return resolve_each(tasks, since);
}

Result<bool> Inserting::is_any_stored(std::span<const task::NewTask> tasks, TimePoint since) {
  for (const task::NewTask& task : tasks) {
    const auto found = look(task, since);
    if (!found) return tl::make_unexpected(found.error());
    if (*found && (*found)->task.created) return true;
  }
  return false;
}

// Of the batch, something may be stored: for the caller that is in doubt, whatever one of them said.
Inserting::Stored Inserting::resolve_each(std::span<const task::NewTask> tasks, TimePoint since) {
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
    // An older task of this key: what the request was to do with it may be done again, and not be left out.
    const bool asks_for_nothing = task.on_duplicate == OnDuplicate::keep;
    if (*found && ((*found)->task.created || asks_for_nothing)) return confirmed(**found);
    stored = send({&task, 1});
    if (stored || stored.error().code == Errc::invalid_argument || stored.error().code == Errc::already_exists) break;
  }
  return stored;
}

// An insert that is answered is on the disk and on the replicas, so what is found instead has to be, too. No task has
// the version 0: nothing is renewed.
Inserting::Stored Inserting::confirmed(const Found& found) {
  if (found.live && context_.store.info().reads_run_ahead) {
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
