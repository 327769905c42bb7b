#include "storage/redis/changing.h"

#include <algorithm>
#include <map>

#include "storage/redis/limits.h"
#include "storage/redis/packing.h"
#include "storage/redis/records.h"
#include "task/task_id.h"

namespace easyretry::storage::redis {
namespace {

// As in lua/settle.lua.
enum Kind : unsigned { kFinish = 0, kRetry = 1, kAdvance = 2, kHandBack = 3, kCancel = 4, kTell = 5 };

unsigned number_of(Settlement::Kind kind) {
  switch (kind) {
    case Settlement::Kind::finish: return kFinish;
    case Settlement::Kind::retry: return kRetry;
    case Settlement::Kind::advance: return kAdvance;
    case Settlement::Kind::hand_back: return kHandBack;
  }
  return kFinish;
}

// An id does not tell its namespace. So a call names the sets of due tasks of all namespaces that this process works
// with, which is one; where a task turns out to be of another, the script says so and it is called again.
class Route {
 public:
  Route(const Server& server, int total_shards)
      : server_(server), spaces_(server.used_spaces()), total_shards_(total_shards) {}

  const std::vector<Name>& spaces() const { return spaces_; }
  std::string space_numbers() const {
    Packer numbers;
    for (const Name& space : spaces_) numbers.u16(space.number);
    return numbers.take();
  }
  // The place of its sets among those of the call, from 0.
  unsigned shard_place(TaskId id) {
    const ShardId shard = task::shard_of(id, total_shards_);
    const auto [found, fresh] = places_.try_emplace(shard, static_cast<unsigned>(places_.size()));
    if (fresh) {
      for (const Name& space : spaces_) dues_.push_back(server_.keys().due(shard, space.text));
    }
    return found->second;
  }
  void add_dues(ScriptCall& call) const { call.keys.insert(call.keys.end(), dues_.begin(), dues_.end()); }

 private:
  const Server& server_;
  const std::vector<Name> spaces_;
  const int total_shards_;
  std::map<ShardId, unsigned> places_;
  std::vector<std::string> dues_;
};

std::string outcomes_kept(History history) {
  std::string kept;
  for (unsigned number = 1; const auto outcome = outcome_of(number); ++number) {
    kept.push_back(keeps(history, *outcome) ? '1' : '0');
  }
  return kept;
}

}  // namespace

// One task's, packed but for the place of its shard.
struct Changing::Change {
  Ticket ticket;
  std::string rest;
};

struct Changing::Answers {
  TimePoint now{};
  std::string each;  // '1', '0', or '?' where another namespace has to be learned
  std::string foreign;
};

ClaimReply Changing::claim(const ClaimRequest& request) {
  ClaimReply reply;
  if (request.tickets.empty()) reply.now = server_.now();
  try {
    for (std::size_t from = 0; from < request.tickets.size(); from += kItemsACall) {
      const auto some = request.tickets.subspan(from, std::min(kItemsACall, request.tickets.size() - from));
      reply.now = claim_some(some, request, reply.won);
    }
  } catch (const LostReply&) {
    throw;
  } catch (const sql::ServerError&) {
    if (reply.won.empty()) throw;  // what was won is held, and the rest is left to be claimed again
  }
  return reply;
}

TimePoint Changing::claim_some(std::span<const Ticket> tickets, const ClaimRequest& request,
                               std::vector<TaskRecord>& won) {
  ScriptCall call = server_.script(scripts::claim);
  call.keys.insert(call.keys.end(), {server_.keys().body(), server_.keys().meta()});
  call.arguments.emplace_back(request.owner.substr(0, 0xffff));
  call.arguments.push_back(std::to_string(request.lease.count()));
  Packer packed;
  for (const Ticket& ticket : tickets) packed.id(ticket.id).f64(to_double(ticket.version));
  call.arguments.push_back(packed.take());
  const Reply reply = server_.write(call);
  const NameTexts texts = [this](unsigned number) { return server_.name_of(number); };
  for (std::size_t i = 1; i + 2 < reply.size(); i += 3) {
    won.push_back(live_record(Unpacker{reply.text(i)}.id(), reply.text(i + 2), reply.text(i + 1), texts));
  }
  return TimePoint{Millis{reply.integer(0)}};
}

Applied Changing::settle(std::span<const Settlement> settlements, bool& begun) {
  std::vector<Change> changes;
  changes.reserve(settlements.size());
  for (const Settlement& each : settlements) {
    Packer rest;
    rest.u8(number_of(each.kind)).u8(redis::number_of(each.outcome)).u8(static_cast<unsigned>(each.stage));
    rest.millis(each.delay).u32(each.error.size()).bytes(each.error).bytes(each.result);
    changes.push_back({each.ticket, rest.take()});
  }
  return apply(changes, begun, [this](std::span<const Change> some) { return settle_some(some); });
}

Applied Changing::cancel(std::span<const TaskId> ids, Cancel how, bool& begun) {
  std::vector<Change> changes;
  changes.reserve(ids.size());
  for (const TaskId id : ids) {
    Packer rest;
    rest.u8(how == Cancel::end ? kCancel : kTell).u8(0).u8(0).f64(0).u32(0);
    changes.push_back({{id, 0}, rest.take()});
  }
  return apply(changes, begun, [this](std::span<const Change> some) { return settle_some(some); });
}

Applied Changing::renew(std::span<const Renewal> renewals, bool& begun) {
  std::vector<Change> changes;
  changes.reserve(renewals.size());
  for (const Renewal& each : renewals) {
    Packer rest;
    rest.millis(each.lease).u8(each.progress ? 1 : 0).bytes(each.progress.value_or(""));
    changes.push_back({each.ticket, rest.take()});
  }
  return apply(changes, begun, [this](std::span<const Change> some) { return renew_some(some); });
}

template <class Some>
Applied Changing::apply(std::span<const Change> changes, bool& begun, Some some) {
  Applied reply;
  if (changes.empty()) reply.now = server_.now();
  for (std::size_t from = 0; from < changes.size();) {
    std::size_t count = 0;
    std::size_t bytes = 0;
    while (from + count < changes.size() && count < kItemsACall && (count == 0 || bytes < kBytesACall)) {
      bytes += changes[from + count++].rest.size();
    }
    const Answers answers = some(changes.subspan(from, count));
    reply.now = answers.now;
    for (const char answer : answers.each) reply.applied.push_back(answer == '1');
    begun = begun || answers.each.find('1') != std::string::npos;
    from += count;
  }
  return reply;
}

Changing::Answers Changing::renew_some(std::span<const Change> changes) {
  ScriptCall call = server_.script(scripts::renew);
  call.keys.push_back(server_.keys().meta());
  for (const Change& change : changes) {
    Packer packed;
    packed.id(change.ticket.id).f64(to_double(change.ticket.version)).bytes(change.rest);
    call.arguments.push_back(packed.take());
  }
  const Reply reply = server_.write_soon(call);
  return {TimePoint{Millis{reply.integer(0)}}, std::string{reply.text(1)}, {}};
}

// The changes of a namespace that was not known are sent once more, with it.
Changing::Answers Changing::settle_some(std::span<const Change> changes) {
  const Keys& keys = server_.keys();
  Route route{server_, options_.total_shards};
  ScriptCall call = server_.script(scripts::settle);
  call.keys.insert(call.keys.end(), {keys.body(), keys.meta(), keys.done()});
  for (const Name& space : route.spaces()) {
    call.keys.insert(call.keys.end(),
                     {keys.keys(space.text), keys.counts(space.text), keys.ended(space.text), keys.dead(space.text)});
  }
  call.arguments.push_back(route.space_numbers());
  call.arguments.push_back(outcomes_kept(options_.history));
  call.arguments.push_back(std::to_string(options_.history_limit));
  for (const Change& change : changes) {
    Packer packed;
    packed.id(change.ticket.id).f64(to_double(change.ticket.version)).u16(route.shard_place(change.ticket.id));
    call.arguments.push_back(packed.bytes(change.rest).take());
  }
  route.add_dues(call);
  const Reply reply = server_.write(call);
  Answers answers{TimePoint{Millis{reply.integer(0)}}, std::string{reply.text(1)}, std::string{reply.text(2)}};
  if (answers.foreign.empty() || !learn_spaces(answers.foreign)) return answers;
  settle_rest(changes, answers);
  return answers;
}

// Those that were left, with the namespaces that have been learned since.
void Changing::settle_rest(std::span<const Change> changes, Answers& answers) {
  std::vector<Change> left;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (answers.each[i] == '?') left.push_back(changes[i]);
  }
  try {
    const Answers then = settle_some(left);
    std::size_t next = 0;
    for (char& answer : answers.each) {
      if (answer == '?') answer = then.each[next++];
    }
  } catch (const sql::ServerError& error) {
    if (left.size() == changes.size()) throw;
    throw LostReply{error.trouble(), error.what()};  // the others are done
  }
}

// False: none of them has a name.
bool Changing::learn_spaces(std::string_view numbers) {
  bool learned = false;
  for (Unpacker in{numbers}; !in.empty();) {
    const unsigned space = in.u16();
    if (server_.name_of(space).empty()) continue;
    server_.uses(space);
    learned = true;
  }
  return learned;
}

}  // namespace easyretry::storage::redis
