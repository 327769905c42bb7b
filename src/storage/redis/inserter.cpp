#include "storage/redis/inserter.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/later.h"
#include "storage/checks.h"
#include "storage/server/server_error.h"
#include "task/task_id.h"
#include "task/transitions.h"

namespace easyretry::storage::redis {
namespace {

namespace Flag = layout::InsertFlag;
namespace InsertAnswer = layout::InsertAnswer;

constexpr int kTries = 100;

std::vector<std::size_t> grouped(std::span<const InsertEntry> entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::tie(entries[a].name_space, entries[a].shard) < std::tie(entries[b].name_space, entries[b].shard);
  });
  return order;
}

// A new task has the key of a live one, and is to be refused in this case.
[[noreturn]] void refuse_duplicate(const InsertEntry& entry, TaskId live) {
  throw server::Refusal{duplicate("redis.insert", entry.key, live)};
}

}  // namespace

// Tasks to store in one part.
class InsertJob final : public Job {
 public:
  using DrawId = std::function<void(InsertEntry&)>;
  InsertJob(Part& part, std::vector<InsertEntry> entries, DrawId draw_id);

  const std::vector<InsertEntry>& entries() const { return entries_; }
  const std::vector<Inserted>& inserted() const { return inserted_; }  // one per entry, unless the job failed
  bool begun() const;
  // The id that an entry has if it is stored, perhaps by a call whose reply was lost; 0: its key is live.
  TaskId id_if_stored(std::size_t entry) const;
  TimePoint now() const { return now_; }

  bool done() const override { return from_ == entries_.size(); }
  ScriptCall next() override;
  void take(const Reply& reply) override;

 private:
  std::span<InsertEntry> slice();
  std::string add_sets(ScriptCall& call);
  bool must_be_sent_again(const Reply& reply);
  void stored(const Reply& reply);

  const DrawId draw_id_;
  std::vector<InsertEntry> entries_;
  std::vector<Inserted> inserted_;
  std::size_t seconds_from_ = 0;  // from here on, entries that repeat a key
  bool rejects_ = false;          // one of the entries before must be refused if its key is live
  std::size_t from_ = 0;
  int tries_ = 0;
  std::vector<std::size_t> order_;  // of the slice: by namespace and shard, as the script needs them
  TimePoint now_{};
};

void InsertEntry::make_at(TimePoint now) {
  next_at = due_at.value_or(base::later(now, delay));
  set_times(body, now, next_at);
  if (!meta.empty()) set_next_at(meta, next_at);
}

// The second task of a key waits until the first is stored, and then finds it live. If the second has
// OnDuplicate::reject, refuse_batch() has already refused the batch.
InsertJob::InsertJob(Part& part, std::vector<InsertEntry> entries, DrawId draw_id)
    : Job(part), draw_id_(std::move(draw_id)), entries_(std::move(entries)), inserted_(entries_.size()) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (InsertEntry& entry : entries_) entry.first = seen.emplace(entry.name_space, entry.key).second;
  const auto second =
      std::stable_partition(entries_.begin(), entries_.end(), [](const InsertEntry& e) { return e.first; });
  rejects_ = std::any_of(entries_.begin(), second, [](const InsertEntry& e) { return e.rejects(); });
  seconds_from_ = static_cast<std::size_t>(second - entries_.begin());
}

bool InsertJob::begun() const {
  return std::any_of(inserted_.begin(), inserted_.begin() + static_cast<std::ptrdiff_t>(from_),
                     [](const Inserted& task) { return task.created; });
}

TaskId InsertJob::id_if_stored(std::size_t entry) const {
  if (entry >= from_) return entries_[entry].id;
  return inserted_[entry].created ? inserted_[entry].id : TaskId{};
}

// A batch that must be refused as a whole has to be one call.
std::span<InsertEntry> InsertJob::slice() {
  const std::size_t end = from_ < seconds_from_ ? seconds_from_ : from_ + 1;
  std::size_t count = 0;
  std::size_t bytes = 0;
  while (from_ + count < end && (rejects_ || count == 0 || (count < kItemsACall && bytes < kBytesACall))) {
    bytes += entries_[from_ + count++].bytes();
  }
  return std::span{entries_}.subspan(from_, count);
}

// Adds the keys of namespaces and of their shards. Returns the groups of tasks that go there.
std::string InsertJob::add_sets(ScriptCall& call) {
  const Keys& keys = part().keys();
  const auto entries = slice();
  Packer groups;
  const InsertEntry* before = nullptr;
  std::size_t keys_of_namespace = 0;
  for (std::size_t at = 0; at < order_.size();) {
    const InsertEntry& first = entries[order_[at]];
    if (before == nullptr || before->name_space != first.name_space) {
      call.keys.push_back(keys.keys(first.name_space));
      keys_of_namespace = call.keys.size();
      call.keys.push_back(keys.counts(first.name_space));
    }
    const auto other = [&](std::size_t i) {
      return entries[i].shard != first.shard || entries[i].name_space != first.name_space;
    };
    const auto rest = std::span{order_}.subspan(at);
    const auto count = static_cast<std::size_t>(std::ranges::find_if(rest, other) - rest.begin());
    call.keys.push_back(keys.due(first.shard, first.name_space));
    groups.record(layout::InsertGroup{.due = call.keys.size(), .keys = keys_of_namespace, .count = count});
    before = &first;
    at += count;
  }
  return groups.take();
}

ScriptCall InsertJob::next() {
  ScriptCall call = part().script(scripts::insert);
  call.wrote = [](const Reply& reply) { return reply.text(1) == InsertAnswer::stored; };
  const Keys& keys = part().keys();
  call.keys.insert(call.keys.end(), {keys.body(), keys.meta(), keys.done()});
  const auto entries = slice();
  order_ = grouped(entries);
  std::string groups = add_sets(call);
  const TimePoint now = part().estimated_now();
  Packer flags;
  Packer members;
  std::string uppers;
  std::vector<std::string> tasks;
  tasks.reserve(entries.size());
  bool again = false;
  for (const std::size_t i : order_) {
    InsertEntry& entry = entries[i];
    entry.make_at(now);
    flags.u8(entry.flags);
    members.record(layout::Due{.id = entry.id, .handler = entry.names.handler});
    fmt::format_to(std::back_inserter(uppers), "{:0{}}", static_cast<std::int64_t>(entry.id) >> task::kSequenceBits,
                   sizeof(layout::UpperDigits));
    tasks.push_back(entry.body);
    if (entry.has(Flag::own_due)) tasks.push_back(std::to_string(entry.next_at.time_since_epoch().count()));
    if (entry.has(Flag::has_template)) tasks.push_back(entry.meta);
    if (entry.has(Flag::again)) tasks.push_back(id_bytes(entry.former));
    again = again || entry.has(Flag::again);
  }
  if (again) call.keys.push_back(keys.requeued());
  call.arguments.insert(call.arguments.end(), {std::to_string(now.time_since_epoch().count()), std::move(groups),
                                               flags.take(), members.take(), std::move(uppers)});
  std::ranges::move(tasks, std::back_inserter(call.arguments));
  return call;
}

void InsertJob::take(const Reply& reply) {
  if (must_be_sent_again(reply)) {
    if (++tries_ < kTries) return;
    throw server::ServerError{server::Trouble::overloaded,
                              "no free ids: is the clock of this machine, or of the server, wrong?"};
  }
  stored(reply);
  tries_ = 0;
}

// Nothing was stored. Either another process has drawn some of the ids, and these tasks get new ones; or the call took
// too long, or the clock was set. The part has learned the time from the reply.
bool InsertJob::must_be_sent_again(const Reply& reply) {
  const auto entry = [&](std::int64_t number) -> InsertEntry& {
    return slice()[order_[static_cast<std::size_t>(number) - 1]];
  };
  if (reply.text(1) == InsertAnswer::taken) {
    for (std::size_t i = 2; i < reply.size(); ++i) draw_id_(entry(reply.integer(i)));
    return true;
  }
  if (reply.text(1) == InsertAnswer::clock_differs) return true;
  if (reply.text(1) == InsertAnswer::live) {
    const InsertEntry& refused = entry(reply.integer(2));
    refuse_duplicate(refused, id_from(Unpacker{reply.text(3)}.record<types::f64>(), refused.digest));
  }
  return false;
}

void InsertJob::stored(const Reply& reply) {
  const auto entries = slice();
  now_ = TimePoint{Millis{reply.integer(0)}};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    inserted_[from_ + i] = {.id = entries[i].id, .version = 1, .next_at = entries[i].next_at, .created = true};
  }
  for (Unpacker in{reply.text(2)}; !in.empty();) {
    const auto live = in.record<layout::Met>();
    const std::size_t i = order_[live.number - 1];
    Inserted& met = inserted_[from_ + i];
    met.created = false;
    met.id = id_from(live.upper, entries[i].digest);
    met.version = to_millis(live.version);
    met.next_at = live.next_at;
  }
  from_ += entries.size();
}

std::optional<std::size_t> Inserter::only_part(std::span<const NewTask> tasks) const {
  if (parts_.size() == 1) return 0;
  std::optional<std::size_t> only;
  for (const NewTask& task : tasks) {
    const std::size_t part = part_of(task::key_digest(task.name_space, task.key));
    if (only.value_or(part) != part) return std::nullopt;
    only = part;
  }
  return only;
}

InsertReply Inserter::insert(std::span<const NewTask* const> tasks, bool& begun, std::vector<TaskId>& ids) {
  if (tasks.empty()) return {.now = parts_.now(), .tasks = {}};
  ids.assign(tasks.size(), {});  // already here: asking for the numbers of names may fail, too
  Entries entries;
  entries.reserve(tasks.size());
  for (const NewTask* task : tasks) entries.push_back(entry_of(*task));
  return store_all(std::move(entries), begun, ids);
}

// A batch of several parts is not rolled back if one of them cannot be reached.
InsertReply Inserter::store_all(Entries entries, bool& begun, std::vector<TaskId>& ids) {
  InsertReply reply{.now = {}, .tasks = std::vector<Inserted>(entries.size())};
  std::vector<Entries> of_parts(parts_.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].place = i;
    of_parts[part_of(entries[i].digest)].push_back(std::move(entries[i]));
  }
  const Jobs jobs = jobs_for(std::move(of_parts));
  parts_.run(CallKind::write, jobs);
  begun = std::ranges::any_of(jobs, [](const auto& job) { return job->begun(); });
  if (std::ranges::any_of(jobs, [](const auto& job) { return job->failure() != nullptr; })) note_ids(jobs, ids);
  try {
    throw_failure(jobs);
  } catch (const server::Refusal& refusal) {
    if (!begun) throw;
    throw LostReply{server::Trouble::again,
                    refusal.error.detail + "; it was stored a moment ago, and other tasks of the batch are stored"};
  }
  for (const auto& job : jobs) {
    for (std::size_t i = 0; i < job->entries().size(); ++i) reply.tasks[job->entries()[i].place] = job->inserted()[i];
  }
  reply.now = parts_.time_of(jobs.front()->now());
  return reply;
}

void Inserter::note_ids(const Jobs& jobs, std::vector<TaskId>& ids) {
  for (const auto& job : jobs) {
    const auto& entries = job->entries();
    for (std::size_t i = 0; i < entries.size(); ++i) ids[entries[i].place] = job->id_if_stored(i);
  }
}

Inserter::Jobs Inserter::jobs_for(std::vector<Entries> of_parts) {
  if (std::ranges::count_if(of_parts, [](const Entries& some) { return !some.empty(); }) > 1) refuse_live(of_parts);
  Jobs jobs;
  for (std::size_t i = 0; i < of_parts.size(); ++i) {
    if (of_parts[i].empty()) continue;
    jobs.push_back(std::make_unique<InsertJob>(parts_.at(i), std::move(of_parts[i]),
                                               [this](InsertEntry& entry) { draw_id(entry); }));
  }
  return jobs;
}

// A script can refuse a batch only in its own part. So with several parts, live keys are looked up before storing.
void Inserter::refuse_live(const std::vector<Entries>& of_parts) {
  std::vector<const InsertEntry*> asked;
  std::vector<std::string> keys;
  for (const Entries& entries : of_parts) {
    for (const InsertEntry& entry : entries) {
      if (entry.rejects()) asked.push_back(&entry);
    }
  }
  keys.reserve(asked.size());
  std::vector<Request> requests;
  for (const InsertEntry* entry : asked) {
    Part& part = parts_.at(part_of(entry->digest));
    keys.push_back(part.keys().keys(entry->name_space));
    requests.push_back(part.request(Command::of("ZSCORE", std::string_view{keys.back()}, bytes_of(entry->digest))));
  }
  const std::vector<Answer> answers = parts_.look(requests);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].reply || answers[i].reply->text().empty() || answers[i].reply->is_error()) continue;
    double upper = 0;
    const std::string_view score = answers[i].reply->text();
    std::from_chars(score.data(), score.data() + score.size(), upper);
    refuse_duplicate(*asked[i], id_from(upper, asked[i]->digest));
  }
}

std::vector<std::optional<TaskId>> Inserter::start_again(std::span<const TaskRecord> ended, bool& begun) {
  if (ended.empty()) return {};
  Entries entries;
  for (const TaskRecord& record : ended) {
    Part& part = parts_.at(part_of(task::key_digest(record.info.name_space, record.info.key)));
    part.open();
    entries.push_back(entry_of(task::next_generation(record, record.info.id, part.estimated_now())));
    entries.back().former = record.info.id;
  }
  std::vector<std::optional<TaskId>> started;
  std::vector<TaskId> ids(ended.size());
  for (const Inserted& task : store_all(std::move(entries), begun, ids).tasks) {
    started.push_back(task.created ? std::optional{task.id} : std::nullopt);
  }
  return started;
}

std::size_t Inserter::part_of(const task::KeyDigest& digest) const {
  return parts_.number_for(sequence_of(digest));
}

InsertEntry Inserter::entry_of(const NewTask& task) {
  TaskRecord record = task::new_record(task, TaskId{}, TimePoint{});
  record.lease_until = TimePoint{task.lease};
  InsertEntry entry;
  if (task.on_duplicate == OnDuplicate::reject) entry.flags |= Flag::reject;
  if (task.on_duplicate == OnDuplicate::update_policy) entry.flags |= Flag::update | Flag::has_template;
  if (!task.error.empty()) entry.flags |= Flag::failed_now;
  if (!task.error.empty() || record.info.attempts != 0 || task.lease > Millis{0})
    entry.flags |= Flag::initial | Flag::has_template;
  entry.due_at = task.due_at;
  entry.delay = task.delay;
  if (task.due_at || task.delay != Millis{0}) entry.flags |= Flag::own_due;
  name(entry, record, entry.has(Flag::update));
  return entry;
}

// A task to requeue keeps its last error.
InsertEntry Inserter::entry_of(const TaskRecord& next) {
  InsertEntry entry;
  entry.flags = Flag::again;
  if (next.info.last_failed_at || !next.info.progress.empty()) entry.flags |= Flag::initial | Flag::has_template;
  name(entry, next, false);
  return entry;
}

void Inserter::name(InsertEntry& entry, const TaskRecord& record, bool with_rules) {
  const TaskInfo& info = record.info;
  entry.name_space = info.name_space;
  entry.key = info.key;
  entry.digest = task::key_digest(info.name_space, info.key);
  entry.shard = task::shard_for(info.business_id, info.key, total_shards_);
  Part& part = parts_.at(part_of(entry.digest));
  entry.names.name_space = part.number_of(NameKind::name_space, info.name_space);
  entry.names.handler = part.number_of(kind_for(info.task_class), info.handler);
  if (!record.rules.backoff.empty()) {
    entry.names.backoff = part.number_if_few(NameKind::backoff, record.rules.backoff);
  }
  entry.body = body_of(record, entry.names, entry.digest);
  if (entry.has(Flag::has_template)) entry.meta = meta_of(record, entry.names, entry.digest, with_rules);
  draw_id(entry);
}

void Inserter::draw_id(InsertEntry& entry) {
  const Part& part = parts_.at(part_of(entry.digest));
  entry.id = ids_.next(part.estimated_now(), entry.shard, sequence_of(entry.digest));
}

}  // namespace easyretry::storage::redis
