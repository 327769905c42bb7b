#include "storage/redis/inserting.h"

#include <algorithm>
#include <map>

#include "storage/insert_checks.h"
#include "storage/redis/limits.h"
#include "storage/redis/packing.h"
#include "storage/redis/records.h"
#include "storage/sql/transactions.h"
#include "task/transitions.h"

namespace easyretry::storage::redis {
namespace {

constexpr std::string_view kWhere = "redis.insert";

// As in lua/insert.lua.
enum Flag : unsigned { kReject = 1, kUpdate = 2, kTemplate = 4, kFailedNow = 8, kInitial = 16 };

std::string_view bytes_of(const task::KeyDigest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

struct Inserting::Entry {
  std::string space;
  std::string key;
  std::string business_id;
  task::KeyDigest digest{};
  ShardId shard{};
  TaskId id{};
  NameNumbers names;
  unsigned flags = 0;
  bool absolute = false;
  double due = 0;
  std::string rest;
  std::string meta{};  // with kTemplate

  std::size_t bytes() const { return rest.size() + meta.size(); }
};

InsertReply Inserting::insert(std::span<const NewTask* const> tasks, bool& begun) {
  std::vector<Entry> entries;
  entries.reserve(tasks.size());
  for (const NewTask* task : tasks) entries.push_back(entry_of(*task));
  const bool rejects = std::ranges::any_of(entries, [](const Entry& e) { return (e.flags & kReject) != 0; });
  if (entries.empty()) return {.now = server_.now(), .tasks = {}};

  InsertReply reply;
  for (std::size_t from = 0; from < entries.size();) {
    std::size_t count = 0;
    std::size_t bytes = 0;
    // What must be refused as a whole is asked for as a whole.
    while (from + count < entries.size() && (rejects || count == 0 || (count < kItemsACall && bytes < kBytesACall))) {
      bytes += entries[from + count++].bytes();
    }
    InsertReply part = store(std::span{entries}.subspan(from, count));
    reply.now = part.now;
    reply.tasks.insert(reply.tasks.end(), part.tasks.begin(), part.tasks.end());
    begun = begun || std::ranges::any_of(part.tasks, &Inserted::created);
    from += count;
  }
  return reply;
}

std::vector<std::optional<TaskId>> Inserting::start_again(std::span<const TaskRecord> ended, bool& begun) {
  std::vector<std::optional<TaskId>> started;
  const TimePoint now = server_.estimated_now();
  for (std::size_t from = 0; from < ended.size(); from += kItemsACall) {
    std::vector<Entry> entries;
    for (const TaskRecord& record : ended.subspan(from, std::min(kItemsACall, ended.size() - from))) {
      entries.push_back(entry_of(task::next_generation(record, record.info.id, now)));
    }
    for (const Inserted& task : store(entries).tasks) {
      started.push_back(task.created ? std::optional{task.id} : std::nullopt);
    }
    begun = true;
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
  entry.absolute = task.due_at.has_value();
  entry.due = to_double(task.due_at ? task.due_at->time_since_epoch().count() : task.delay.count());
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
  entry.rest = body_rest(record, entry.names);
  if ((entry.flags & kTemplate) != 0) entry.meta = meta_of(record, entry.names, entry.digest, with_rules);
  draw_id(entry);
}

void Inserting::draw_id(Entry& entry) {
  entry.id = ids_.next(server_.estimated_now(), entry.shard, sequence_of(entry.digest));
}

InsertReply Inserting::store(std::span<Entry> entries) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (auto reply = try_to_store(entries)) return *std::move(reply);
  }
  throw sql::ServerError{sql::Trouble::overloaded,
                         "no free ids: is the clock of this machine, or of the server, wrong?"};
}

// Nothing: another process has drawn some of the ids, and these got new ones.
std::optional<InsertReply> Inserting::try_to_store(std::span<Entry> entries) {
  ScriptCall call = server_.script(scripts::insert);
  const Keys& keys = server_.keys();
  call.keys.insert(call.keys.end(), {keys.body(), keys.meta(), keys.done()});
  std::map<std::string_view, std::size_t> spaces;
  for (const Entry& entry : entries) {
    if (!spaces.try_emplace(entry.space, call.keys.size() + 1).second) continue;
    call.keys.push_back(keys.keys(entry.space));
    call.keys.push_back(keys.counts(entry.space));
  }
  std::map<std::pair<ShardId, std::size_t>, std::size_t> dues;
  call.arguments.reserve(2 + 2 * entries.size());
  for (const Entry& entry : entries) {
    const std::size_t space = spaces.at(entry.space);
    const auto [due, fresh] = dues.try_emplace({entry.shard, space}, call.keys.size() + 1);
    if (fresh) call.keys.push_back(keys.due(entry.shard, entry.space));
    Packer head;
    head.id(entry.id).bytes(bytes_of(entry.digest)).u16(entry.names.space).u16(entry.names.handler);
    head.u16(static_cast<unsigned>(space)).u16(static_cast<unsigned>(due->second));
    head.u8(entry.flags).u8(entry.absolute ? 1 : 0).f64(entry.due);
    call.arguments.push_back(head.take());
    call.arguments.push_back(entry.rest);
    if ((entry.flags & kTemplate) != 0) call.arguments.push_back(entry.meta);
  }
  const Reply reply = server_.write(call);
  if (reply.text(1) == "taken") {
    for (std::size_t i = 2; i < reply.size(); ++i) draw_id(entries[static_cast<std::size_t>(reply.integer(i)) - 1]);
    return std::nullopt;
  }
  return stored(reply, entries);
}

InsertReply Inserting::stored(const Reply& reply, std::span<const Entry> entries) {
  if (reply.text(1) == "live") {
    const Entry& refused = entries[static_cast<std::size_t>(reply.integer(2)) - 1];
    throw sql::Refusal{duplicate(kWhere, refused.key, id_from(Unpacker{reply.text(3)}.f64(), refused.digest))};
  }
  InsertReply answer{.now = TimePoint{Millis{reply.integer(0)}}, .tasks = {}};
  Unpacker in{reply.text(2)};
  for (const Entry& entry : entries) {
    Inserted task;
    task.created = in.u8() == 1;
    task.version = to_millis(in.f64());
    task.next_at = in.time();
    task.id = id_from(in.f64(), entry.digest);
    answer.tasks.push_back(task);
  }
  return answer;
}

}  // namespace easyretry::storage::redis
