#include "engine/inserter.h"

#include <algorithm>

namespace easyretry::engine {
namespace {

// If replies are lost again and again, the Inserter gives up, and the result is in doubt.
constexpr int kTries = 3;

bool contains(const std::vector<TaskId>& ids, TaskId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool can_be_found(const storage::InsertFailure& failure) {
  return failure.code == Errc::in_doubt && !failure.ids.empty();
}

}  // namespace

// Tasks that were sent, and for each the ids that it may have got from requests whose replies were lost.
struct Inserter::Doubtful {
  std::span<const task::NewTask> tasks;
  std::span<Ids> ids;

  Doubtful only(std::size_t task) const { return {tasks.subspan(task, 1), ids.subspan(task, 1)}; }
  void add(const Ids& sent) const {
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (sent[i] != TaskId{}) ids[i].push_back(sent[i]);
    }
  }
};

Inserter::Stored Inserter::insert(std::span<const task::NewTask> tasks) {
  auto sent = send(tasks);
  if (sent) return std::move(sent->tasks);
  if (!can_be_found(sent.error())) return tl::make_unexpected(sent.error());
  std::vector<Ids> ids(tasks.size());
  const Doubtful doubtful{tasks, ids};
  doubtful.add(sent.error().ids);
  return resolve(doubtful);
}

storage::InsertResult Inserter::send(std::span<const task::NewTask> tasks) {
  return context_.ask(StoreVerb::insert, [&](storage::Store& store) { return store.insert(tasks); });
}

// Looks for the tasks by the ids that they were to get, and sends them again as long as none is found: all of them,
// because a batch that is refused for one of its tasks stores none. A task that was stored and run meanwhile and left
// no history cannot be found: it is stored once more, which is what "at least once" means.
Inserter::Stored Inserter::resolve(const Doubtful& doubtful) {
  Error last{};
  std::optional<Error> refusal;
  for (int failures = 0; failures < kTries;) {
    const auto found = look_for_any(doubtful);
    if (!found) {
      last = found.error();
      ++failures;
      continue;
    }
    if (*found) return doubtful.tasks.size() == 1 ? confirmed(**found) : resolve_each(doubtful);
    if (refusal) return tl::make_unexpected(*std::move(refusal));
    auto sent = send(doubtful.tasks);
    if (sent) return with_ours(doubtful, std::move(sent->tasks));
    last = sent.error();
    if (last.code == Errc::already_exists) {
      refusal = last;  // perhaps because of our own task, if a request believed lost arrived before this one
    } else if (last.code == Errc::unavailable || can_be_found(sent.error())) {
      doubtful.add(sent.error().ids);
      ++failures;
    } else {
      return tl::make_unexpected(std::move(last));
    }
  }
  last.code = Errc::in_doubt;
  return tl::make_unexpected(std::move(last));
}

// The batch was accepted, and only what is missing is sent. As some of it is stored, any failure is in doubt for the
// caller.
Inserter::Stored Inserter::resolve_each(const Doubtful& doubtful) {
  std::vector<storage::Inserted> all;
  for (std::size_t i = 0; i < doubtful.tasks.size(); ++i) {
    Stored one = resolve(doubtful.only(i));
    if (!one) {
      one.error().code = Errc::in_doubt;
      return one;
    }
    all.push_back(one->front());
  }
  return all;
}

// The live task with the same key may be our own, stored by a request believed lost.
Inserter::Stored Inserter::with_ours(const Doubtful& doubtful, std::vector<storage::Inserted> answers) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].created || !contains(doubtful.ids[i], answers[i].id)) continue;
    const auto found = look(doubtful.tasks[i], doubtful.ids[i]);
    if (!found) return fail(Errc::in_doubt, found.error().where, found.error().detail);
    if (*found) answers[i] = **found;
  }
  return answers;
}

// An answered insert is on the disk and on the replicas, so a task found instead must be, too. No task has version 0:
// nothing is renewed.
Inserter::Stored Inserter::confirmed(const storage::Inserted& found) {
  if (context_.store.info().reads_run_ahead) {
    const storage::Renewal nothing{{found.id, 0}, Millis{0}};
    const auto reply = context_.ask(StoreVerb::renew, [&](storage::Store& store) {
      return store.renew({&nothing, 1});
    });
    if (!reply) return fail(Errc::in_doubt, reply.error().where, reply.error().detail);
  }
  return std::vector{found};
}

Result<std::optional<storage::Inserted>> Inserter::look_for_any(const Doubtful& doubtful) {
  for (std::size_t i = 0; i < doubtful.tasks.size(); ++i) {
    auto found = look(doubtful.tasks[i], doubtful.ids[i]);
    if (!found || *found) return found;
  }
  return std::nullopt;
}

// By its key, because a task found by key is known to be on the disk; but only if its id is one of `ids`.
Result<std::optional<storage::Inserted>> Inserter::look(const task::NewTask& task, const Ids& ids) {
  if (ids.empty()) return std::nullopt;
  storage::TaskQuery query;
  query.name_space = task.name_space;
  query.key = task.key;
  query.requeued = true;  // it may have ended and been requeued meanwhile
  query.after = TaskId{static_cast<std::int64_t>(*std::min_element(ids.begin(), ids.end())) - 1};
  for (const bool finished : {false, true}) {
    query.finished = finished;
    const auto there = context_.store.list(query);
    if (!there) {
      context_.note(there.error());
      return tl::make_unexpected(there.error());
    }
    for (const task::TaskRecord& record : *there) {
      const TaskInfo& info = record.info;
      if (!contains(ids, info.id)) continue;
      // Its lease may have expired meanwhile; then the instance that has it now runs it.
      const bool ours_to_run = task.lease == Millis{0} || record.locked_by == context_.owner;
      return storage::Inserted{info.id, info.version, info.next_at, ours_to_run};
    }
  }
  return std::nullopt;
}

}  // namespace easyretry::engine
