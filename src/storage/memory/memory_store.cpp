#include "storage/memory/memory_store.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/later.h"
#include "base/random.h"
#include "storage/checks.h"
#include "storage/list_walk.h"
#include "storage/member_text.h"
#include "storage/retention.h"
#include "task/task_key.h"
#include "task/transitions.h"

namespace easyretry::storage {
namespace {

Inserted as_inserted(const TaskRecord& record, bool created) {
  return {.id = record.info.id, .version = record.info.version, .next_at = record.info.next_at, .created = created};
}

}  // namespace

MemoryStore::MemoryStore(const MemoryStoreOptions& options, const Clock& clock)
    : options_(options), clock_(clock), ids_(options.id_seed.value_or(base::random_seed())) {
  if (options.total_shards < 1 || options.total_shards > task::kMaxShards) {
    throw std::invalid_argument("total_shards must be 1 to 4096, not " + std::to_string(options.total_shards));
  }
}

StoreInfo MemoryStore::info() const {
  return {.url = "memory://",
          .total_shards = options_.total_shards,
          .durability = {"nothing: tasks are lost when the process ends"},
          .shared = options_.shared,
          .indexes_handlers = true};
}

InsertResult MemoryStore::insert(std::span<const NewTask> tasks) {
  return insert_as(draw_ids(tasks), tasks);
}

std::vector<TaskId> MemoryStore::draw_ids(std::span<const NewTask> tasks) {
  const std::lock_guard lock{mutex_};
  const TimePoint now = clock_.now();
  std::vector<TaskId> ids;
  ids.reserve(tasks.size());
  for (const NewTask& task : tasks) ids.push_back(draw_id(task.business_id, task.key, now));
  return ids;
}

InsertResult MemoryStore::insert_as(std::span<const TaskId> ids, std::span<const NewTask> tasks) {
  if (auto error = refuse_batch(tasks, "memory.insert")) return tl::make_unexpected(*std::move(error));
  const std::lock_guard lock{mutex_};
  if (const TaskRecord* there = refused(tasks)) {
    return tl::make_unexpected(duplicate("memory.insert", there->info.key, there->info.id));
  }
  InsertReply reply{.now = clock_.now(), .tasks = {}};
  for (std::size_t i = 0; i < tasks.size(); ++i) reply.tasks.push_back(insert_one(tasks[i], ids[i], reply.now));
  return reply;
}

// The live task that has the same key as a task with OnDuplicate::reject; nullptr if there is none.
const TaskRecord* MemoryStore::refused(std::span<const NewTask> tasks) const {
  for (const NewTask& task : tasks) {
    const TaskRecord* there = live_.find(task.name_space, task.key);
    if (there != nullptr && task.on_duplicate == OnDuplicate::reject) return there;
  }
  return nullptr;
}

Inserted MemoryStore::insert_one(const NewTask& task, TaskId id, TimePoint now) {
  if (const TaskRecord* there = live_.find(task.name_space, task.key)) {
    if (task.on_duplicate == OnDuplicate::update_policy) {
      live_.change(there->info.id, [&](TaskRecord& updated) { task::apply_update(updated, task); });
    }
    return as_inserted(*there, false);
  }
  sums_.stored(task.name_space, task.handler, now);
  return as_inserted(live_.add(task::new_record(task, id, now)), true);
}

Result<LoadReply> MemoryStore::load(const LoadQuery& query) {
  const std::lock_guard lock{mutex_};
  return live_.load(query, clock_.now());
}

Result<ClaimReply> MemoryStore::claim(const ClaimRequest& request) {
  const std::lock_guard lock{mutex_};
  ClaimReply reply{.now = clock_.now(), .won = {}};
  for (const Ticket& ticket : request.tickets) {
    if (auto won = claim_one(ticket, request, reply.now)) reply.won.push_back(*std::move(won));
  }
  return reply;
}

std::optional<TaskRecord> MemoryStore::claim_one(const Ticket& ticket, const ClaimRequest& request, TimePoint now) {
  const TaskRecord* task = live_.find(ticket.id);
  if (task == nullptr) return std::nullopt;
  const auto event = task::claim_event(*task, ticket, now);
  if (!event) return std::nullopt;
  TaskRecord won = live_.change(ticket.id, [&](TaskRecord& claimed) {
    task::apply_claim(claimed, *event, request.owner, now, request.lease, request.begin);
  });
  won.info.last_attempts.clear();
  return won;
}

template <class Change>
Result<Applied> MemoryStore::apply_each(std::span<const Change> changes, Apply<Change> apply) {
  const std::lock_guard lock{mutex_};
  Applied reply{.now = clock_.now(), .applied = {}};
  for (const Change& change : changes) reply.applied.push_back((this->*apply)(change, reply.now));
  return reply;
}

Result<Applied> MemoryStore::settle(std::span<const Settlement> settlements) {
  return apply_each(settlements, &MemoryStore::settle_one);
}

bool MemoryStore::settle_one(const Settlement& settlement, TimePoint now) {
  const TaskId id = settlement.ticket.id;
  const TaskRecord* task = live_.find(id);
  if (task == nullptr || !task::holds(*task, settlement.ticket)) return false;
  live_.change(id, [&](TaskRecord& settled) { task::apply_settlement(settled, settlement, now); });
  if (retire(id, keeps(options_.history, settlement), now)) keep_result(id, settlement, now);
  return true;
}

Result<Applied> MemoryStore::renew(std::span<const Renewal> renewals) {
  return apply_each(renewals, &MemoryStore::renew_one);
}

bool MemoryStore::renew_one(const Renewal& renewal, TimePoint now) {
  const TaskRecord* task = live_.find(renewal.ticket.id);
  if (task == nullptr || !task::holds(*task, renewal.ticket)) return false;
  live_.change(renewal.ticket.id,
               [&](TaskRecord& renewed) { task::apply_renewal(renewed, now, renewal.lease, renewal.progress); });
  return true;
}

Result<std::vector<TaskRecord>> MemoryStore::find(std::span<const TaskId> ids) {
  const std::set<TaskId> wanted{ids.begin(), ids.end()};
  const std::lock_guard lock{mutex_};
  std::vector<TaskRecord> found;
  for (const TaskId id : wanted) {
    const TaskRecord* task = record(id);
    if (task == nullptr) continue;
    found.push_back(*task);
    if (const auto kept = results_.find(id); kept != results_.end()) found.back().result = kept->second.result;
  }
  return found;
}

Result<std::vector<TaskRecord>> MemoryStore::list(const TaskQuery& query) {
  const std::lock_guard lock{mutex_};
  const auto& tasks = query.finished ? finished_ : live_.by_id();
  const ListWalk walk{query};
  std::vector<TaskRecord> page;
  const auto take = [&](auto at, auto end) {
    for (; at != end && page.size() < query.limit; ++at) {
      if (!matches(at->second, query)) continue;
      page.push_back(at->second);
      page.back().info.last_attempts.clear();
    }
  };
  if (walk.down()) {
    take(std::make_reverse_iterator(tasks.lower_bound(walk.from())), tasks.rend());
  } else {
    take(tasks.upper_bound(walk.from()), tasks.end());
  }
  return page;
}

Result<std::int64_t> MemoryStore::count(const TaskQuery& query) {
  const std::lock_guard lock{mutex_};
  const auto& from = query.finished ? finished_ : live_.by_id();
  return std::count_if(from.begin(), from.end(), [&](const auto& entry) { return matches(entry.second, query); });
}

Result<Counts> MemoryStore::counts(std::string_view name_space) {
  const std::lock_guard lock{mutex_};
  return counts_of(sums_, name_space);
}

Result<Applied> MemoryStore::revise(std::span<const Revision> revisions) {
  return apply_each(revisions, &MemoryStore::revise_one);
}

bool MemoryStore::revise_one(const Revision& revision, TimePoint now) {
  const TaskRecord* task = live_.find(revision.ticket.id);
  if (task == nullptr || !task::may_revise(*task, revision.ticket)) return false;
  live_.change(revision.ticket.id, [&](TaskRecord& revised) { task::apply_revision(revised, revision, now); });
  return true;
}

Result<Applied> MemoryStore::end(std::span<const Ending> endings) {
  return apply_each(endings, &MemoryStore::end_one);
}

bool MemoryStore::end_one(const Ending& ending, TimePoint now) {
  const TaskRecord* task = live_.find(ending.id);
  if (task == nullptr) return false;
  const auto event = task::end_event(*task, ending);
  if (!event) return false;
  live_.change(ending.id, [&](TaskRecord& ended) { task::apply_end(ended, *event, ending, now); });
  if (retire(ending.id, keeps(options_.history, ending.outcome), now)) keep_result(ending.id, ending, now);
  return true;
}

Result<std::vector<std::optional<TaskId>>> MemoryStore::requeue(std::span<const TaskId> ids,
                                                                std::optional<TaskClass> as) {
  const std::lock_guard lock{mutex_};
  const TimePoint now = clock_.now();
  std::vector<std::optional<TaskId>> started;
  for (const TaskId id : ids) started.push_back(requeue_one(id, std::nullopt, as, now));
  return started;
}

Result<std::optional<TaskId>> MemoryStore::requeue_with(TaskId id, std::string_view arguments,
                                                        std::optional<TaskClass> as) {
  const std::lock_guard lock{mutex_};
  return requeue_one(id, arguments, as, clock_.now());
}

std::optional<TaskId> MemoryStore::requeue_one(TaskId id, std::optional<std::string_view> arguments,
                                               std::optional<TaskClass> as, TimePoint now) {
  const auto ended = finished_.find(id);
  if (ended == finished_.end()) return std::nullopt;
  TaskInfo& info = ended->second.info;
  if (info.requeued_as || (!arguments && lacks_arguments(ended->second))) return std::nullopt;
  if (live_.find(info.name_space, info.key) != nullptr) return std::nullopt;
  const TaskId fresh = draw_id(info.business_id, info.key, now);
  sums_.stored(info.name_space, info.handler, now);
  TaskRecord next = task::next_generation(ended->second, fresh, now);
  if (arguments) next.payload = *arguments;
  if (as) next.info.task_class = *as;
  live_.add(std::move(next));
  info.requeued_as = fresh;
  return fresh;
}

Result<BeatReply> MemoryStore::beat(const Beat& beat) {
  const std::lock_guard lock{mutex_};
  const TimePoint now = clock_.now();
  std::erase_if(members_, [&](const auto& member) { return member.second.until <= now; });
  MemberEntry& self =
      members_.try_emplace({std::string{beat.name_space}, std::string{beat.node}}, MemberEntry{now}).first->second;
  self.until = base::later(now, beat.ttl);
  self.says = beat.says;
  self.handlers = handlers_fit(beat.says, beat.handlers) ? beat.handlers : std::nullopt;
  return BeatReply{now, living(beat.name_space, now)};
}

Result<BeatReply> MemoryStore::members(std::string_view name_space) {
  const std::lock_guard lock{mutex_};
  return BeatReply{clock_.now(), living(name_space, clock_.now())};
}

std::vector<Member> MemoryStore::living(std::string_view name_space, TimePoint now) const {
  std::vector<Member> living;
  for (const auto& [name, entry] : members_) {
    if (name.first != name_space || entry.until <= now) continue;
    living.push_back({name.second, entry.since, entry.says, entry.handlers});
  }
  return living;
}

Result<bool> MemoryStore::leave(std::string_view name_space, std::string_view node) {
  const std::lock_guard lock{mutex_};
  return members_.erase({std::string{name_space}, std::string{node}}) > 0;
}

Result<bool> MemoryStore::pause(std::string_view name_space, std::string_view handler, std::string_view why) {
  if (auto error = refuse_pause(name_space, handler, why, "memory.pause"))
    return tl::make_unexpected(*std::move(error));
  const std::lock_guard lock{mutex_};
  auto& paused = paused_[std::string{name_space}];
  const std::string name{handler};
  if (paused.contains(name)) return answer_of(PauseOutcome::was_paused, "memory.pause");
  if (paused.size() >= kMostPaused) return answer_of(PauseOutcome::too_many, "memory.pause");
  paused.emplace(name, PausedHandler{name, clock_.now(), std::string{why}});
  return answer_of(PauseOutcome::paused, "memory.pause");
}

Result<bool> MemoryStore::resume(std::string_view name_space, std::string_view handler) {
  const std::lock_guard lock{mutex_};
  return paused_[std::string{name_space}].erase(std::string{handler}) > 0;
}

Result<PausedReply> MemoryStore::paused(std::string_view name_space) {
  const std::lock_guard lock{mutex_};
  PausedReply reply{clock_.now(), {}};
  for (const auto& [name, paused] : paused_[std::string{name_space}]) reply.handlers.push_back(paused);
  return reply;
}

Result<KeepReport> MemoryStore::keep() {
  const std::lock_guard lock{mutex_};
  const TimePoint now = clock_.now();
  sums_.join_days(first_day_kept(now));
  std::erase_if(results_, [now](const auto& entry) { return entry.second.until <= now; });
  return KeepReport{};
}

// Walks all ended tasks: there are few, and they are at hand.
Result<bool> MemoryStore::expire(std::span<const Retention> rules) {
  const std::lock_guard lock{mutex_};
  for (const Walk& walk : walks(rules, {}, clock_.now())) {
    const auto expires = [&](const TaskInfo& info) {
      return info.name_space == walk.name_space && *info.finished_at < walk.until && !must_be_kept(*info.outcome) &&
             std::ranges::count(walk.handlers, info.handler) > 0;
    };
    if (walk.what == Expiry::tasks) {
      std::erase_if(finished_, [&](const auto& entry) { return expires(entry.second.info); });
      continue;
    }
    for (auto& [id, record] : finished_) {
      if (expires(record.info)) record.payload.clear();
    }
  }
  return false;
}

const TaskRecord* MemoryStore::record(TaskId id) const {
  if (const TaskRecord* task = live_.find(id)) return task;
  const auto ended = finished_.find(id);
  return ended == finished_.end() ? nullptr : &ended->second;
}

// Moves a task that has ended from the live tasks to the history. False: it has not ended, or is not to be kept.
bool MemoryStore::retire(TaskId id, bool kept, TimePoint now) {
  if (live_.find(id)->info.state != TaskState::finished) return false;
  TaskRecord ended = live_.take(id);
  sums_.ended(ended.info.name_space, ended.info.handler, ended.info.outcome.value(), now);
  if (kept) finished_.emplace(id, std::move(ended));
  return kept;
}

template <class End>
void MemoryStore::keep_result(TaskId id, const End& end, TimePoint now) {
  if (end.keeps_result()) results_[id] = {end.result, base::later(now, end.keep_result)};
}

TaskId MemoryStore::draw_id(std::string_view business_id, std::string_view key, TimePoint now) {
  const ShardId shard = task::shard_for(business_id, key, options_.total_shards);
  TaskId id = ids_.next(now, shard);
  while (record(id) != nullptr) id = ids_.next(now, shard);  // never happens while the clock is right
  return id;
}

}  // namespace easyretry::storage
