// What people change of tasks that wait: decision 24.

#include "base/later.h"
#include "engine/core.h"
#include "engine/known_versions.h"
#include "task/transitions.h"

namespace easyretry::engine {
namespace {

// Each time somebody else was a moment earlier.
constexpr int kTries = 5;

bool revised_first(const std::vector<bool>& revised) {
  return revised.front();
}

}  // namespace

Result<bool> Core::retry_now(TaskId id) {
  return retry_now(std::span<const TaskId>{&id, 1}).map(revised_first);
}

// What is due already is left as it is: another version would only make those who have read it read it again.
Result<std::vector<bool>> Core::retry_now(std::span<const TaskId> ids) {
  return revise(ids, [this](const task::TaskRecord& record) {
    task::Revision revision;
    if (record.info.next_at > context_->store_now()) revision.delay = Millis{0};
    return revision;
  });
}

Result<bool> Core::revise_rules(TaskId id, const EditRules& edit) {
  const auto make = [&](const task::TaskRecord& record) {
    task::Revision revision;
    revision.rules = edit(record.rules);
    return revision;
  };
  return revise({&id, 1}, make).map(revised_first);
}

Result<std::vector<bool>> Core::revise(std::span<const TaskId> ids, const MakeRevision& make) {
  std::vector<TaskId> left;
  for (const TaskId id : ids) {
    if (!LocalRetries::is_local(id)) left.push_back(id);
  }
  std::set<TaskId> done;
  for (int tries = 0; tries < kTries && !left.empty(); ++tries) {
    auto missed = revise_once(left, make, done);
    if (!missed) return tl::make_unexpected(missed.error());
    left = *std::move(missed);
  }
  std::vector<bool> all;
  for (const TaskId id : ids) all.push_back(done.contains(id));
  return all;
}

Result<std::vector<TaskId>> Core::revise_once(std::span<const TaskId> ids, const MakeRevision& make,
                                              std::set<TaskId>& done) {
  const auto found = store_->find(ids);
  if (!found) return tl::make_unexpected(found.error());
  std::vector<task::Revision> revisions;
  std::vector<Soon> changed;
  bool due_already = false;
  for (const task::TaskRecord& record : *found) {
    const TaskInfo& info = record.info;
    if (info.space != context_->options.space || info.state != TaskState::pending) continue;
    task::Revision revision = make(record);
    if (revision.delay || revision.rules) {
      revision.ticket = {info.id, info.version};
      changed.push_back(
          {info.id, info.version + 1, &info.handler, info.next_at, storage::suspicion_byte(task::suspicion(record))});
      revisions.push_back(std::move(revision));
    } else {
      done.insert(info.id);
      due_already = true;
    }
  }
  if (due_already) hurry_somebody();
  if (revisions.empty()) return std::vector<TaskId>{};
  const auto reply = context_->ask(StoreVerb::revise, [&](storage::Store& store) { return store.revise(revisions); });
  if (!reply) return tl::make_unexpected(reply.error());
  std::vector<TaskId> missed;
  std::vector<Soon> revised;
  for (std::size_t i = 0; i < revisions.size(); ++i) {
    if (!reply->applied[i]) {
      missed.push_back(changed[i].id);
      continue;
    }
    done.insert(changed[i].id);
    if (revisions[i].delay) changed[i].due = base::later(reply->now, *revisions[i].delay);
    revised.push_back(changed[i]);
  }
  offer_revised(revised);
  return missed;
}

// What was read ahead here has the version of before: left alone it would be claimed in vain at its time.
void Core::offer_revised(std::span<const Soon> revised) {
  if (revised.empty()) return;
  KnownVersions now;
  for (const Soon& task : revised) now.insert(task.id, static_cast<std::uint32_t>(task.version));
  schedule.forget([&now](const WheelEntry& entry) { return now.contains(entry.id); });
  offer_soon(revised);
}

}  // namespace easyretry::engine
