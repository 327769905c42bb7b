#include "storage/redis/insert_job.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/later.h"
#include "storage/checks.h"
#include "storage/redis/limits.h"
#include "storage/redis/packing.h"
#include "storage/redis/task_ids.h"
#include "storage/server/server_error.h"
#include "task/task_id.h"

namespace easyretry::storage::redis {
namespace {

constexpr int kTries = 100;

std::vector<std::size_t> grouped(std::span<const InsertEntry> entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::tie(entries[a].space, entries[a].shard) < std::tie(entries[b].space, entries[b].shard);
  });
  return order;
}

}  // namespace

void InsertEntry::make_at(TimePoint now) {
  next_at = due_at.value_or(base::later(now, delay));
  set_times(body, now, next_at);
  if (!meta.empty()) set_next_at(meta, next_at);
}

void refuse_duplicate(const InsertEntry& entry, TaskId live) {
  throw server::Refusal{duplicate("redis.insert", entry.key, live)};
}

// A second task of a key waits for the first, which it will meet. It is not one that asks to be refused:
// refuse_batch().
InsertJob::InsertJob(Part& part, std::vector<InsertEntry> entries, DrawId draw_id)
    : Job(part), draw_id_(std::move(draw_id)), entries_(std::move(entries)), inserted_(entries_.size()) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (InsertEntry& entry : entries_) entry.first = seen.emplace(entry.space, entry.key).second;
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

// What must be refused as a whole is asked for as a whole.
std::span<InsertEntry> InsertJob::slice() {
  const std::size_t end = from_ < seconds_from_ ? seconds_from_ : from_ + 1;
  std::size_t count = 0;
  std::size_t bytes = 0;
  while (from_ + count < end && (rejects_ || count == 0 || (count < kItemsACall && bytes < kBytesACall))) {
    bytes += entries_[from_ + count++].bytes();
  }
  return std::span{entries_}.subspan(from_, count);
}

// The keys of namespaces, and of shards of a namespace. Gives the groups of tasks that go there.
std::string InsertJob::add_sets(ScriptCall& call) {
  const Keys& keys = part().keys();
  const auto entries = slice();
  Packer groups;
  const InsertEntry* before = nullptr;
  std::size_t keys_of_space = 0;
  for (std::size_t at = 0; at < order_.size();) {
    const InsertEntry& first = entries[order_[at]];
    if (before == nullptr || before->space != first.space) {
      call.keys.push_back(keys.keys(first.space));
      keys_of_space = call.keys.size();
      call.keys.push_back(keys.counts(first.space));
    }
    const auto other = [&](std::size_t i) {
      return entries[i].shard != first.shard || entries[i].space != first.space;
    };
    const auto rest = std::span{order_}.subspan(at);
    const auto count = static_cast<std::size_t>(std::ranges::find_if(rest, other) - rest.begin());
    call.keys.push_back(keys.due(first.shard, first.space));
    groups.u16(static_cast<unsigned>(call.keys.size())).u16(static_cast<unsigned>(keys_of_space));
    groups.u16(static_cast<unsigned>(count));
    before = &first;
    at += count;
  }
  return groups.take();
}

ScriptCall InsertJob::next() {
  ScriptCall call = part().script(scripts::insert);
  call.wrote = [](const Reply& reply) { return reply.text(1) == "stored"; };
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
  unsigned again = 0;
  for (const std::size_t i : order_) {
    InsertEntry& entry = entries[i];
    entry.make_at(now);
    flags.u8(entry.flags);
    members.id(entry.id).u16(entry.names.handler);
    fmt::format_to(std::back_inserter(uppers), "{:016}", static_cast<std::int64_t>(entry.id) >> task::kSequenceBits);
    tasks.push_back(entry.body);
    if ((entry.flags & kOwnDue) != 0) tasks.push_back(std::to_string(entry.next_at.time_since_epoch().count()));
    if ((entry.flags & kTemplate) != 0) tasks.push_back(entry.meta);
    if ((entry.flags & kAgain) != 0) tasks.push_back(id_bytes(entry.former));
    again |= entry.flags & kAgain;
  }
  if (again != 0) call.keys.push_back(keys.requeued());
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

// Another process has drawn some of the ids, and these get new ones; or the call was under way for too long, or the
// clock was set, which the part has learned from the reply. Nothing was done.
bool InsertJob::must_be_sent_again(const Reply& reply) {
  const auto entry = [&](std::int64_t number) -> InsertEntry& {
    return slice()[order_[static_cast<std::size_t>(number) - 1]];
  };
  if (reply.text(1) == "taken") {
    for (std::size_t i = 2; i < reply.size(); ++i) draw_id_(entry(reply.integer(i)));
    return true;
  }
  if (reply.text(1) == "clock") return true;
  if (reply.text(1) == "live") {
    const InsertEntry& refused = entry(reply.integer(2));
    refuse_duplicate(refused, id_from(Unpacker{reply.text(3)}.f64(), refused.digest));
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
    const std::size_t i = order_[in.u32() - 1];
    Inserted& met = inserted_[from_ + i];
    met.created = false;
    met.id = id_from(in.f64(), entries[i].digest);
    met.version = to_millis(in.f64());
    met.next_at = in.time();
  }
  from_ += entries.size();
}

}  // namespace easyretry::storage::redis
