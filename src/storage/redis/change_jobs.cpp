#include "storage/redis/change_jobs.h"

#include <algorithm>
#include <map>

#include "storage/redis/limits.h"
#include "storage/redis/packing.h"
#include "storage/redis/records.h"
#include "task/task_id.h"

namespace easyretry::storage::redis {
namespace {

// An id does not tell its namespace. So a call names the sets of due tasks of all namespaces that this process works
// with, which is one; where a task turns out to be of another, the script says so and it is called again.
class Route {
 public:
  Route(const Part& part, int total_shards) : part_(part), spaces_(part.used_spaces()), total_shards_(total_shards) {}

  const std::vector<Name>& spaces() const { return spaces_; }
  std::string space_numbers() const {
    Packer numbers;
    for (const Name& space : spaces_) numbers.u16(space.number);
    return numbers.take();
  }
  void add_dues(ScriptCall& call) const { call.keys.insert(call.keys.end(), dues_.begin(), dues_.end()); }
  // The place of its sets among those of the call, from 0.
  unsigned shard_place(TaskId id) {
    const ShardId shard = task::shard_of(id, total_shards_);
    const auto [found, fresh] = places_.try_emplace(shard, static_cast<unsigned>(places_.size()));
    if (fresh) {
      for (const Name& space : spaces_) dues_.push_back(part_.keys().due(shard, space.text));
    }
    return found->second;
  }

 private:
  const Part& part_;
  const std::vector<Name> spaces_;
  const int total_shards_;
  std::map<ShardId, unsigned> places_;
  std::vector<std::string> dues_;
};

void put_ticket(Packer& out, const task::Ticket& ticket) {
  out.id(ticket.id).f64(to_double(ticket.version));
}

// Changes that follow each other and are alike.
class Groups {
 public:
  void add(unsigned shard_place, std::string_view kind, bool has_more) {
    std::string alike = Packer{}.u16(shard_place).bytes(kind).u8(has_more ? 1 : 0).take();
    if (alike != alike_) close();
    alike_ = std::move(alike);
    ++count_;
  }
  std::string take() {
    close();
    return packed_.take();
  }

 private:
  void close() {
    if (count_ > 0) packed_.bytes(alike_).u16(count_);
    count_ = 0;
  }

  Packer packed_;
  std::string alike_;
  unsigned count_ = 0;
};

std::string outcomes_kept(History history) {
  std::string kept;
  for (unsigned number = 1; const auto outcome = outcome_of(number); ++number) {
    kept.push_back(keeps(history, *outcome) ? '1' : '0');
  }
  return kept;
}

}  // namespace

ScriptCall ChangeJob::next() {
  if (slice_.empty()) take_slice();
  return call_for(slice_);
}

void ChangeJob::take_slice() {
  std::size_t bytes = 0;
  while (from_ < changes_.size() && slice_.size() < kItemsACall && (slice_.empty() || bytes < kBytesACall)) {
    bytes += changes_[from_]->rest.size();
    slice_.push_back(from_++);
  }
  // What settle.lua has groups of. Changes of one task stay in their order.
  std::ranges::stable_sort(
      slice_, {}, [this](std::size_t i) { return task::shard_of(change(i).ticket.id, options_.total_shards); });
}

void ChangeJob::take(const Reply& reply) {
  now_ = TimePoint{Millis{reply.integer(0)}};
  const std::string_view each = reply.text(1);
  for (std::size_t at = 0; at < slice_.size() && at < each.size(); ++at) answers_[slice_[at]] = each[at];
  slice_ = left(reply, slice_);
}

ScriptCall RenewJob::call_for(const Slice& slice) {
  ScriptCall call = part().script(scripts::renew);
  call.keys.push_back(part().keys().meta());
  for (const std::size_t i : slice) {
    Packer packed;
    put_ticket(packed, change(i).ticket);
    call.arguments.push_back(packed.bytes(change(i).rest).take());
  }
  return call;
}

ScriptCall SettleJob::call_for(const Slice& slice) {
  ScriptCall call = part().script(scripts::settle);
  const Keys& keys = part().keys();
  Route route{part(), options().total_shards};
  call.keys.insert(call.keys.end(), {keys.body(), keys.meta(), keys.done()});
  for (const Name& space : route.spaces()) {
    call.keys.insert(call.keys.end(),
                     {keys.keys(space.text), keys.counts(space.text), keys.ended(space.text), keys.dead(space.text)});
  }
  call.arguments.push_back(route.space_numbers());
  call.arguments.push_back(outcomes_kept(options().history));
  call.arguments.push_back(std::to_string(options().history_of_a_part()));
  Packer tickets;
  Groups groups;
  for (const std::size_t i : slice) {
    put_ticket(tickets, change(i).ticket);
    groups.add(route.shard_place(change(i).ticket.id), change(i).kind, !change(i).rest.empty());
  }
  call.arguments.push_back(tickets.take());
  call.arguments.push_back(groups.take());
  for (const std::size_t i : slice) {
    if (!change(i).rest.empty()) call.arguments.push_back(change(i).rest);
  }
  route.add_dues(call);
  call.keys.push_back(keys.requeued());
  return call;
}

ScriptCall ReviseJob::call_for(const Slice& slice) {
  ScriptCall call = part().script(scripts::revise);
  Route route{part(), options().total_shards};
  call.keys.insert(call.keys.end(), {part().keys().body(), part().keys().meta()});
  call.arguments.push_back(route.space_numbers());
  for (const std::size_t i : slice) {
    Packer packed;
    put_ticket(packed, change(i).ticket);
    packed.u16(route.shard_place(change(i).ticket.id)).bytes(change(i).rest);
    call.arguments.push_back(packed.take());
  }
  route.add_dues(call);
  return call;
}

ChangeJob::Slice DueJob::left(const Reply& reply, const Slice& slice) {
  Slice foreign;
  for (const std::size_t i : slice) {
    if (answers()[i] == '?') foreign.push_back(i);
  }
  if (foreign.empty() || learn_spaces(reply.text(2))) return foreign;
  for (const std::size_t i : foreign) forget(i);
  return {};
}

// False: none of them has a name.
bool DueJob::learn_spaces(std::string_view numbers) {
  bool learned = false;
  for (Unpacker in{numbers}; !in.empty();) {
    const unsigned space = in.u16();
    if (part().name_of(space).empty()) continue;
    part().uses(space);
    learned = true;
  }
  return learned;
}

}  // namespace easyretry::storage::redis
