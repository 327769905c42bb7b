// What people change of a task that waits: decision 24.

#include "base/later.h"
#include "engine/core.h"
#include "task/task_id.h"

namespace easyretry::engine {
namespace {

// Each time somebody else was a moment earlier.
constexpr int kTries = 5;

}  // namespace

// What is due already is left as it is: another version would only make those who have read it read it again.
Result<bool> Core::retry_now(TaskId id) {
  return revise(id, [this](const task::TaskRecord& record) {
    task::Revision revision;
    if (record.info.next_at > context_->store_now()) revision.delay = Millis{0};
    return revision;
  });
}

Result<bool> Core::revise_rules(TaskId id, const EditRules& edit) {
  return revise(id, [&](const task::TaskRecord& record) {
    task::Revision revision;
    revision.rules = edit(record.rules);
    return revision;
  });
}

Result<bool> Core::revise(TaskId id, const MakeRevision& make) {
  if (LocalRetries::is_local(id)) return false;
  for (int tries = 0; tries < kTries; ++tries) {
    const auto record = find(id);
    if (!record) return tl::make_unexpected(record.error());
    if (!*record || (*record)->info.state != TaskState::pending) return false;
    task::Revision revision = make(**record);
    revision.ticket = {id, (*record)->info.version};
    if (!revision.delay && !revision.rules) {
      loader.hurry();
      if (!runs_here_) announce();
      return true;
    }
    const auto reply = context_->ask(StoreVerb::revise, [&](storage::Store& store) {
      return store.revise({&revision, 1});
    });
    if (!reply) return tl::make_unexpected(reply.error());
    if (!reply->applied.front()) continue;
    offer_revised(**record, revision, reply->now);
    return true;
  }
  return false;
}

// What was read ahead here has the version of before. Left alone it would be claimed in vain at its time, and keep the
// one of now from being ready beside it.
void Core::offer_revised(const task::TaskRecord& before, const task::Revision& revision, TimePoint now) {
  const TaskId id = before.info.id;
  schedule.forget([id](const WheelEntry& entry) { return entry.id == id; });
  const TimePoint due = revision.delay ? base::later(now, *revision.delay) : before.info.next_at;
  if (due > now + context_->options.window) return;
  const auto table = context_->handlers.snapshot();
  const auto handler = table->by_name.find(before.info.handler);
  const bool ours = handler != table->by_name.end() && loader.owned()->contains(task::shard_of(id, total_shards_));
  if (ours) {
    const Offer offer{{id, static_cast<std::uint32_t>(before.info.version + 1), handler->second}, due};
    schedule.offer({&offer, 1});
  }
  if (!ours || !runs_here_) announce();
}

}  // namespace easyretry::engine
