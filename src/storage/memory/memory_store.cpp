#include "storage/memory/memory_store.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/later.h"
#include "base/random.h"
#include "storage/checks.h"
#include "storage/member_text.h"
#include "storage/task_filter.h"
#include "task/task_key.h"
#include "task/transitions.h"

namespace easyretry::storage {
namespace {

Inserted as_inserted(const TaskRecord& record, bool created) {
  return {.id = record.info.id, .version = record.info.version, .next_at = record.info.next_at, .created = created};
}

// By the guard of the claim, at the time when the claim would come.
bool claimable(const TaskRecord& record, TimePoint now) {
  const Ticket seen{record.info.id, record.info.version};
  return task::claim_event(record, seen, std::max(now, record.info.next_at)).has_value();
}

// Walks the due order of each shard from its cursor and stops at the end of the window.
class WindowScan {
 public:
  WindowScan(const LiveTasks& live, const LoadQuery& query, TimePoint now)
      : live_(live), query_(query), until_(base::later(now, query.ahead)) {
    reply_.now = now;
  }

  void scan(const ShardCursor& from) {
    const auto& due = live_.due(query_.space, from.shard);
    std::size_t room = query_.limit;
    for (auto it = due.upper_bound({from.place, from.id}); it != due.end() && it->next_at <= until_; ++it) {
      if (room == 0) break;
      const TaskRecord& record = *live_.find(it->id);
      if (!claimable(record, reply_.now)) continue;
      add(record);
      if (--room == 0) reply_.more.push_back({.shard = from.shard, .place = it->next_at, .id = it->id});
    }
  }

  LoadReply take() { return std::move(reply_); }

 private:
  void add(const TaskRecord& record) {
    const TaskInfo& info = record.info;
    reply_.tasks.push_back(
        {{info.id, info.version}, info.next_at, handler_index(info.handler), suspicion_byte(task::suspicion(record))});
  }

  std::uint32_t handler_index(const std::string& name) {
    const auto [found, fresh] = index_.try_emplace(name, static_cast<std::uint32_t>(index_.size()));
    if (fresh) reply_.handlers.push_back(name);
    return found->second;
  }

  const LiveTasks& live_;
  const LoadQuery& query_;
  const TimePoint until_;
  LoadReply reply_;
  std::map<std::string_view, std::uint32_t> index_;
};

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
          .shared = options_.shared};
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

// The live task that one of these must not meet; nullptr if there is none.
const TaskRecord* MemoryStore::refused(std::span<const NewTask> tasks) const {
  for (const NewTask& task : tasks) {
    const TaskRecord* there = live_.find(task.space, task.key);
    if (there != nullptr && task.on_duplicate == OnDuplicate::reject) return there;
  }
  return nullptr;
}

Inserted MemoryStore::insert_one(const NewTask& task, TaskId id, TimePoint now) {
  if (const TaskRecord* there = live_.find(task.space, task.key)) {
    if (task.on_duplicate == OnDuplicate::update_policy) {
      live_.change(there->info.id, [&](TaskRecord& updated) { task::apply_update(updated, task); });
    }
    return as_inserted(*there, false);
  }
  sums_.stored(task.space, task.handler, now);
  return as_inserted(live_.add(task::new_record(task, id, now)), true);
}

Result<LoadReply> MemoryStore::load(const LoadQuery& query) {
  const std::lock_guard lock{mutex_};
  WindowScan scan{live_, query, clock_.now()};
  for (const ShardCursor& from : query.from) scan.scan(from);
  return scan.take();
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
  return live_.change(ticket.id, [&](TaskRecord& claimed) {
    task::apply_claim(claimed, *event, request.owner, now, request.lease, request.begin);
  });
}

Result<Applied> MemoryStore::settle(std::span<const Settlement> settlements) {
  const std::lock_guard lock{mutex_};
  Applied reply{.now = clock_.now(), .applied = {}};
  for (const Settlement& settlement : settlements) reply.applied.push_back(settle_one(settlement, reply.now));
  return reply;
}

bool MemoryStore::settle_one(const Settlement& settlement, TimePoint now) {
  const TaskId id = settlement.ticket.id;
  const TaskRecord* task = live_.find(id);
  if (task == nullptr || !task::holds(*task, settlement.ticket)) return false;
  live_.change(id, [&](TaskRecord& settled) { task::apply_settlement(settled, settlement, now); });
  retire(id, now);
  return true;
}

Result<Applied> MemoryStore::renew(std::span<const Renewal> renewals) {
  const std::lock_guard lock{mutex_};
  Applied reply{.now = clock_.now(), .applied = {}};
  for (const Renewal& renewal : renewals) reply.applied.push_back(renew_one(renewal, reply.now));
  return reply;
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
    if (const TaskRecord* task = record(id)) found.push_back(*task);
  }
  return found;
}

Result<std::vector<TaskRecord>> MemoryStore::list(const TaskQuery& query) {
  const std::lock_guard lock{mutex_};
  const auto& from = query.finished ? finished_ : live_.by_id();
  std::vector<TaskRecord> page;
  for (auto it = from.upper_bound(query.after); it != from.end() && page.size() < query.limit; ++it) {
    if (matches(it->second, query)) page.push_back(it->second);
  }
  return page;
}

Result<std::int64_t> MemoryStore::count(const TaskQuery& query) {
  const std::lock_guard lock{mutex_};
  const auto& from = query.finished ? finished_ : live_.by_id();
  return std::count_if(from.begin(), from.end(), [&](const auto& entry) { return matches(entry.second, query); });
}

Result<Counts> MemoryStore::counts(std::string_view space) {
  const std::lock_guard lock{mutex_};
  return counts_of(sums_, space);
}

Result<Applied> MemoryStore::revise(std::span<const Revision> revisions) {
  const std::lock_guard lock{mutex_};
  Applied reply{.now = clock_.now(), .applied = {}};
  for (const Revision& revision : revisions) reply.applied.push_back(revise_one(revision, reply.now));
  return reply;
}

bool MemoryStore::revise_one(const Revision& revision, TimePoint now) {
  const TaskRecord* task = live_.find(revision.ticket.id);
  if (task == nullptr || !task::may_revise(*task, revision.ticket)) return false;
  live_.change(revision.ticket.id, [&](TaskRecord& revised) { task::apply_revision(revised, revision, now); });
  return true;
}

Result<Applied> MemoryStore::cancel(std::span<const TaskId> ids, Cancel how) {
  const std::lock_guard lock{mutex_};
  Applied reply{.now = clock_.now(), .applied = {}};
  for (const TaskId id : ids) reply.applied.push_back(cancel_one(id, how, reply.now));
  return reply;
}

bool MemoryStore::cancel_one(TaskId id, Cancel how, TimePoint now) {
  const TaskRecord* task = live_.find(id);
  if (task == nullptr) return false;
  const auto event = task::cancel_event(*task, how == Cancel::tell);
  if (!event) return false;
  live_.change(id, [&](TaskRecord& cancelled) { task::apply_cancel(cancelled, *event, now); });
  retire(id, now);
  return true;
}

Result<std::vector<std::optional<TaskId>>> MemoryStore::requeue(std::span<const TaskId> ids) {
  const std::lock_guard lock{mutex_};
  const TimePoint now = clock_.now();
  std::vector<std::optional<TaskId>> started;
  for (const TaskId id : ids) started.push_back(requeue_one(id, now));
  return started;
}

std::optional<TaskId> MemoryStore::requeue_one(TaskId id, TimePoint now) {
  const auto ended = finished_.find(id);
  if (ended == finished_.end()) return std::nullopt;
  TaskInfo& info = ended->second.info;
  if (info.requeued_as || live_.find(info.space, info.key) != nullptr) return std::nullopt;
  const TaskId fresh = draw_id(info.business_id, info.key, now);
  sums_.stored(info.space, info.handler, now);
  live_.add(task::next_generation(ended->second, fresh, now));
  info.requeued_as = fresh;
  return fresh;
}

Result<BeatReply> MemoryStore::beat(const Beat& beat) {
  const std::lock_guard lock{mutex_};
  const TimePoint now = clock_.now();
  std::erase_if(members_, [&](const auto& member) { return member.second.until <= now; });
  Heard& self = members_.try_emplace({std::string{beat.space}, std::string{beat.node}}, Heard{now}).first->second;
  self.until = base::later(now, beat.ttl);
  self.says = beat.says;
  self.handlers = handlers_fit(beat.says, beat.handlers) ? beat.handlers : std::nullopt;
  return BeatReply{now, living(beat.space, now)};
}

Result<BeatReply> MemoryStore::members(std::string_view space) {
  const std::lock_guard lock{mutex_};
  return BeatReply{clock_.now(), living(space, clock_.now())};
}

std::vector<Member> MemoryStore::living(std::string_view space, TimePoint now) const {
  std::vector<Member> living;
  for (const auto& [name, heard] : members_) {
    if (name.first != space || heard.until <= now) continue;
    living.push_back({name.second, heard.since, heard.says, heard.handlers});
  }
  return living;
}

Result<bool> MemoryStore::leave(std::string_view space, std::string_view node) {
  const std::lock_guard lock{mutex_};
  return members_.erase({std::string{space}, std::string{node}}) > 0;
}

Result<bool> MemoryStore::pause(std::string_view space, std::string_view handler, std::string_view why) {
  if (auto error = refuse_pause(space, handler, why, "memory.pause")) return tl::make_unexpected(*std::move(error));
  const std::lock_guard lock{mutex_};
  auto& paused = paused_[std::string{space}];
  const std::string name{handler};
  if (paused.contains(name)) return answer_of(Pausing::was_paused, "memory.pause");
  if (paused.size() >= kMostPaused) return answer_of(Pausing::too_many, "memory.pause");
  paused.emplace(name, PausedHandler{name, clock_.now(), std::string{why}});
  return answer_of(Pausing::done, "memory.pause");
}

Result<bool> MemoryStore::resume(std::string_view space, std::string_view handler) {
  const std::lock_guard lock{mutex_};
  return paused_[std::string{space}].erase(std::string{handler}) > 0;
}

Result<PausedReply> MemoryStore::paused(std::string_view space) {
  const std::lock_guard lock{mutex_};
  PausedReply reply{clock_.now(), {}};
  for (const auto& [name, paused] : paused_[std::string{space}]) reply.handlers.push_back(paused);
  return reply;
}

Result<KeepReport> MemoryStore::keep() {
  const std::lock_guard lock{mutex_};
  sums_.join_days(first_day_kept(clock_.now()));
  return KeepReport{};
}

const TaskRecord* MemoryStore::record(TaskId id) const {
  if (const TaskRecord* task = live_.find(id)) return task;
  const auto ended = finished_.find(id);
  return ended == finished_.end() ? nullptr : &ended->second;
}

// Moves a task that has ended from the live tasks to the history, if that is kept.
void MemoryStore::retire(TaskId id, TimePoint now) {
  if (live_.find(id)->info.state != TaskState::finished) return;
  TaskRecord ended = live_.take(id);
  sums_.ended(ended.info.space, ended.info.handler, ended.info.outcome.value(), now);
  if (keeps(options_.history, ended.info.outcome.value())) finished_.emplace(id, std::move(ended));
}

TaskId MemoryStore::draw_id(std::string_view business_id, std::string_view key, TimePoint now) {
  const ShardId shard = task::shard_for(business_id, key, options_.total_shards);
  TaskId id = ids_.next(now, shard);
  while (record(id) != nullptr) id = ids_.next(now, shard);  // never happens while the clock is right
  return id;
}

}  // namespace easyretry::storage
