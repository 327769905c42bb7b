#include "storage/redis/inserting.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>

#include "base/later.h"
#include "storage/insert_checks.h"
#include "storage/redis/limits.h"
#include "storage/redis/packing.h"
#include "storage/redis/records.h"
#include "storage/sql/transactions.h"
#include "task/task_id.h"
#include "task/transitions.h"

namespace easyretry::storage::redis {
namespace {

constexpr std::string_view kWhere = "redis.insert";

// As in lua/insert.lua.
enum Flag : unsigned {
  kReject = 1,
  kUpdate = 2,
  kTemplate = 4,
  kFailedNow = 8,
  kInitial = 16,
  kOwnDue = 32,
};

}  // namespace

struct Inserting::Entry {
  std::size_t place = 0;  // in the batch
  bool first = true;      // of its key
  std::string space;
  std::string key;
  std::string business_id;
  task::KeyDigest digest{};
  ShardId shard{};
  TaskId id{};
  NameNumbers names;
  unsigned flags = 0;
  std::optional<TimePoint> due_at;
  Millis delay{0};
  TimePoint next_at{};
  std::string body;
  std::string meta{};  // with kTemplate

  // By what is taken for the server's clock.
  void make_at(TimePoint now) {
    next_at = due_at.value_or(base::later(now, delay));
    set_times(body, now, next_at);
    if (!meta.empty()) set_next_at(meta, next_at);
  }

  std::size_t bytes() const { return body.size() + meta.size(); }
};

InsertReply Inserting::insert(std::span<const NewTask* const> tasks, bool& begun) {
  if (tasks.empty()) return {.now = server_.now(), .tasks = {}};
  std::vector<Entry> entries;
  entries.reserve(tasks.size());
  for (const NewTask* task : tasks) {
    entries.push_back(entry_of(*task));
    entries.back().place = entries.size() - 1;
  }
  return store_all(entries, begun);
}

// A second task of a key waits for the first, which it will meet. It is not one that asks to be refused:
// refuse_batch().
InsertReply Inserting::store_all(std::vector<Entry>& entries, bool& begun) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (Entry& entry : entries) entry.first = seen.emplace(entry.space, entry.key).second;
  const auto second = std::stable_partition(entries.begin(), entries.end(), [](const Entry& e) { return e.first; });
  const bool rejects = std::any_of(entries.begin(), second, [](const Entry& e) { return (e.flags & kReject) != 0; });
  InsertReply reply{.now = {}, .tasks = std::vector<Inserted>(entries.size())};
  const auto seconds_from = static_cast<std::size_t>(second - entries.begin());
  for (std::size_t from = 0; from < entries.size();) {
    std::size_t count = 0;
    std::size_t bytes = 0;
    const std::size_t end = from < seconds_from ? seconds_from : from + 1;
    // What must be refused as a whole is asked for as a whole.
    while (from + count < end && (rejects || count == 0 || (count < kItemsACall && bytes < kBytesACall))) {
      bytes += entries[from + count++].bytes();
    }
    const InsertReply part = store(std::span{entries}.subspan(from, count));
    reply.now = part.now;
    for (std::size_t i = 0; i < count; ++i) reply.tasks[entries[from + i].place] = part.tasks[i];
    begun = begun || std::ranges::any_of(part.tasks, &Inserted::created);
    from += count;
  }
  return reply;
}

std::vector<std::optional<TaskId>> Inserting::start_again(std::span<const TaskRecord> ended, bool& begun) {
  if (ended.empty()) return {};
  const TimePoint now = server_.estimated_now();
  std::vector<Entry> entries;
  for (const TaskRecord& record : ended) {
    entries.push_back(entry_of(task::next_generation(record, record.info.id, now)));
    entries.back().place = entries.size() - 1;
  }
  std::vector<std::optional<TaskId>> started;
  for (const Inserted& task : store_all(entries, begun).tasks) {
    started.push_back(task.created ? std::optional{task.id} : std::nullopt);
  }
  return started;
}

Inserting::Entry Inserting::entry_of(const NewTask& task) {
  TaskRecord record = task::new_record(task, TaskId{}, TimePoint{});
  record.lease_until = TimePoint{task.lease};
  Entry entry;
  if (task.on_duplicate == OnDuplicate::reject) entry.flags |= kReject;
  if (task.on_duplicate == OnDuplicate::update_policy) entry.flags |= kUpdate | kTemplate;
  if (!task.error.empty()) entry.flags |= kFailedNow;
  if (!task.error.empty() || record.info.attempts != 0 || task.lease > Millis{0}) entry.flags |= kInitial | kTemplate;
  entry.due_at = task.due_at;
  entry.delay = task.delay;
  if (task.due_at || task.delay != Millis{0}) entry.flags |= kOwnDue;
  name(entry, record, (entry.flags & kUpdate) != 0);
  return entry;
}

// It still tells what went wrong last.
Inserting::Entry Inserting::entry_of(const TaskRecord& next) {
  Entry entry;
  if (next.info.last_failed_at || !next.info.progress.empty()) entry.flags |= kInitial | kTemplate;
  name(entry, next, false);
  return entry;
}

void Inserting::name(Entry& entry, const TaskRecord& record, bool with_rules) {
  const TaskInfo& info = record.info;
  entry.space = info.space;
  entry.key = info.key;
  entry.business_id = info.business_id;
  entry.digest = task::key_digest(info.space, info.key);
  entry.shard = task::shard_for(info.business_id, info.key, total_shards_);
  entry.names.space = server_.number_of(NameKind::space, info.space);
  entry.names.handler = server_.number_of(NameKind::handler, info.handler);
  if (!record.rules.backoff.empty()) {
    entry.names.backoff = server_.number_if_few(NameKind::backoff, record.rules.backoff);
  }
  entry.body = body_of(record, entry.names, entry.digest);
  if ((entry.flags & kTemplate) != 0) entry.meta = meta_of(record, entry.names, entry.digest, with_rules);
  draw_id(entry);
}

void Inserting::draw_id(Entry& entry) {
  entry.id = ids_.next(server_.estimated_now(), entry.shard, sequence_of(entry.digest));
}

// By namespace and shard, as the script wants them.
std::vector<std::size_t> Inserting::grouped(std::span<const Entry> entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::tie(entries[a].space, entries[a].shard) < std::tie(entries[b].space, entries[b].shard);
  });
  return order;
}

InsertReply Inserting::store(std::span<Entry> entries) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (auto reply = try_to_store(entries)) return *std::move(reply);
  }
  throw sql::ServerError{sql::Trouble::overloaded,
                         "no free ids: is the clock of this machine, or of the server, wrong?"};
}

// The keys of namespaces, and of shards of a namespace. Gives the groups of tasks that go there.
std::string Inserting::add_sets(ScriptCall& call, std::span<const Entry> entries, std::span<const std::size_t> order) {
  const Keys& keys = server_.keys();
  Packer groups;
  const Entry* before = nullptr;
  std::size_t keys_of_space = 0;
  for (std::size_t at = 0; at < order.size();) {
    const Entry& first = entries[order[at]];
    if (before == nullptr || before->space != first.space) {
      call.keys.push_back(keys.keys(first.space));
      keys_of_space = call.keys.size();
      call.keys.push_back(keys.counts(first.space));
    }
    const auto other = [&](std::size_t i) {
      return entries[i].shard != first.shard || entries[i].space != first.space;
    };
    const auto rest = order.subspan(at);
    const auto count = static_cast<std::size_t>(std::ranges::find_if(rest, other) - rest.begin());
    call.keys.push_back(keys.due(first.shard, first.space));
    groups.u16(static_cast<unsigned>(call.keys.size())).u16(static_cast<unsigned>(keys_of_space));
    groups.u16(static_cast<unsigned>(count));
    before = &first;
    at += count;
  }
  return groups.take();
}

// Nothing: another process has drawn some of the ids, and these got new ones; or the clock was set.
std::optional<InsertReply> Inserting::try_to_store(std::span<Entry> entries) {
  ScriptCall call = server_.script(scripts::insert);
  call.wrote = [](const Reply& reply) { return reply.text(1) == "stored"; };
  const Keys& keys = server_.keys();
  call.keys.insert(call.keys.end(), {keys.body(), keys.meta(), keys.done()});
  const std::vector<std::size_t> order = grouped(entries);
  std::string groups = add_sets(call, entries, order);
  std::vector<std::string> tasks;
  tasks.reserve(3 * entries.size());
  Packer flags;
  const TimePoint now = server_.estimated_now();
  for (const std::size_t i : order) {
    Entry& entry = entries[i];
    entry.make_at(now);
    flags.u8(entry.flags);
    tasks.push_back(Packer{}.id(entry.id).u16(entry.names.handler).take());
    tasks.push_back(std::to_string(static_cast<std::int64_t>(entry.id) >> task::kSequenceBits));
    tasks.push_back(entry.body);
    if ((entry.flags & kOwnDue) != 0) tasks.push_back(std::to_string(entry.next_at.time_since_epoch().count()));
    if ((entry.flags & kTemplate) != 0) tasks.push_back(entry.meta);
  }
  call.arguments.insert(call.arguments.end(),
                        {std::to_string(now.time_since_epoch().count()), std::move(groups), flags.take()});
  std::ranges::move(tasks, std::back_inserter(call.arguments));
  return stored(server_.write(call), entries, order);
}

std::optional<InsertReply> Inserting::stored(const Reply& reply, std::span<Entry> entries,
                                             std::span<const std::size_t> order) {
  const auto entry = [&](std::int64_t number) -> Entry& {
    return entries[order[static_cast<std::size_t>(number) - 1]];
  };
  if (reply.text(1) == "taken") {
    for (std::size_t i = 2; i < reply.size(); ++i) draw_id(entry(reply.integer(i)));
    return std::nullopt;
  }
  if (reply.text(1) == "clock") {
    server_.set_clock(TimePoint{Millis{reply.integer(0)}});
    return std::nullopt;
  }
  if (reply.text(1) == "live") {
    const Entry& refused = entry(reply.integer(2));
    throw sql::Refusal{duplicate(kWhere, refused.key, id_from(Unpacker{reply.text(3)}.f64(), refused.digest))};
  }
  InsertReply answer{.now = TimePoint{Millis{reply.integer(0)}}, .tasks = {}};
  for (const Entry& each : entries) {
    answer.tasks.push_back({.id = each.id, .version = 1, .next_at = each.next_at, .created = true});
  }
  for (Unpacker in{reply.text(2)}; !in.empty();) {
    const std::size_t i = order[in.u32() - 1];
    answer.tasks[i].created = false;
    answer.tasks[i].id = id_from(in.f64(), entries[i].digest);
    answer.tasks[i].version = to_millis(in.f64());
    answer.tasks[i].next_at = in.time();
  }
  return answer;
}

}  // namespace easyretry::storage::redis
