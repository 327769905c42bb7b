#include "conformance/named_store.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "conformance/record_text.h"
#include "task/task_id.h"

namespace easyretry::test {
namespace {

using storage::ShardCursor;
using task::TaskRecord;
using task::Ticket;

std::string text(const Error& error) {
  return "error: " + std::string{to_string(error.code)};
}

std::int64_t number(TimePoint at) {
  return at.time_since_epoch().count();
}
std::int64_t number(TaskId id) {
  return static_cast<std::int64_t>(id);
}

std::string text(const std::vector<TaskRecord>& records) {
  std::string all;
  for (const TaskRecord& record : records) all += record_text(record) + '\n';
  return all;
}

std::string text(const Result<storage::Applied>& reply) {
  if (!reply) return text(reply.error());
  std::ostringstream out;
  out << "now " << number(reply->now) << ':';
  for (const bool applied : reply->applied) out << ' ' << applied;
  return out.str();
}

bool by_id(const TaskRecord& a, const TaskRecord& b) {
  return a.info.id < b.info.id;
}

bool in_order(const std::vector<TaskRecord>& page, ListOrder order) {
  return order == ListOrder::newest_first ? std::is_sorted(page.rbegin(), page.rend(), by_id)
                                          : std::is_sorted(page.begin(), page.end(), by_id);
}

}  // namespace

std::string NamedStore::insert(const std::vector<task::NewTask>& tasks) {
  const auto reply = store_.insert(tasks);
  if (!reply) return text(reply.error());
  std::ostringstream out;
  out << "now " << number(reply->now) << '\n';
  for (const auto& task : reply->tasks) {
    if (task.created) learn(task.id);
    out << number(name(task.id)) << " version " << task.version << " next_at " << number(task.next_at)
        << (task.created ? " created\n" : " was there\n");
  }
  return out.str();
}

// Stores may cut pages differently, so all pages together are compared.
std::string NamedStore::load(std::string_view name_space, Millis ahead, std::size_t limit) {
  std::vector<ShardCursor> from;
  for (int i = 0; i < store_.info().total_shards; ++i)
    from.push_back({.shard = ShardId{static_cast<std::uint16_t>(i)}});
  std::int64_t now = 0;
  std::multiset<std::string> whole;
  for (int page = 0; !from.empty(); ++page) {
    if (page > 10'000) return "pages without end";
    const auto reply = store_.load({.name_space = name_space, .from = from, .ahead = ahead, .limit = limit});
    if (!reply) return text(reply.error());
    if (reply->tasks.size() > limit * from.size()) return "a page that is too long";
    now = number(reply->now);
    std::map<ShardId, TimePoint> last;
    for (const auto& task : reply->tasks) {
      TimePoint& before = last.try_emplace(task::shard_of(task.id), TimePoint::min()).first->second;
      if (task.due < before) return "a shard out of order";
      before = task.due;
      whole.insert(std::to_string(number(name(task.id))) + " version " + std::to_string(task.version) + " handler " +
                   reply->handlers.at(task.handler) + " next_at " + std::to_string(number(task.due)) + " suspicion " +
                   std::to_string(task.suspicion) + " class " + std::string{to_string(task.task_class)} +
                   (task.retried ? " retried" : ""));
    }
    from = reply->more;
  }
  std::ostringstream all;
  all << "now " << now << '\n';
  for (const std::string& task : whole) all << task << '\n';
  return all.str();
}

std::string NamedStore::claim(std::vector<Ticket> named_tickets, std::string_view owner, Millis lease, bool begin) {
  const auto wanted = tickets(std::move(named_tickets));
  const auto reply = store_.claim({.tickets = wanted, .owner = owner, .lease = lease, .begin = begin});
  if (!reply) return text(reply.error());
  return "now " + std::to_string(number(reply->now)) + '\n' + text(named(reply->won));
}

std::string NamedStore::settle(std::vector<task::Settlement> settlements) {
  for (auto& settlement : settlements) settlement.ticket.id = id(settlement.ticket.id);
  return text(store_.settle(settlements));
}

std::string NamedStore::renew(std::vector<storage::Renewal> renewals) {
  for (auto& renewal : renewals) renewal.ticket.id = id(renewal.ticket.id);
  return text(store_.renew(renewals));
}

std::string NamedStore::find(std::vector<TaskId> names) {
  const auto reply = store_.find(ids(std::move(names)));
  return reply ? text(named(*reply)) : text(reply.error());
}

std::string NamedStore::list(storage::TaskQuery query) {
  std::vector<TaskRecord> all;
  for (;;) {
    const auto page = store_.list(query);
    if (!page) return text(page.error());
    if (page->size() > query.limit || !in_order(*page, query.order)) return "a page out of order";
    if (page->empty()) break;
    query.after = page->back().info.id;
    all.insert(all.end(), page->begin(), page->end());
  }
  const auto count = store_.count(query);
  return (count ? "count " + std::to_string(*count) : text(count.error())) + '\n' + text(named(std::move(all)));
}

std::string NamedStore::revise(std::vector<storage::Revision> revisions) {
  for (auto& revision : revisions) revision.ticket.id = id(revision.ticket.id);
  return text(store_.revise(revisions));
}

std::string NamedStore::end(std::vector<task::Ending> endings) {
  for (auto& ending : endings) ending.id = id(ending.id);
  return text(store_.end(endings));
}

std::string NamedStore::requeue(std::vector<TaskId> names, std::optional<TaskClass> as) {
  const auto reply = store_.requeue(ids(std::move(names)), as);
  if (!reply) return text(reply.error());
  std::string started;
  for (const auto& fresh : *reply) {
    if (fresh) learn(*fresh);
    started += fresh ? to_string(name(*fresh)) + ' ' : "- ";
  }
  return started;
}

// Backends have different tables to drop.
std::string NamedStore::keep() {
  const auto reply = store_.keep();
  const auto folded = store_.fold_counts();
  return reply && folded ? "kept" : text(reply ? folded.error() : reply.error());
}

std::string NamedStore::counts(std::string_view name_space) {
  const auto reply = store_.counts(name_space);
  if (!reply) return text(reply.error());
  std::string all;
  const auto add = [&](const std::string& of, const Tally& tally) {
    all += of + " stored " + std::to_string(tally.stored);
    for (const auto& [outcome, tasks] : tally.ended) {
      all.append(" ").append(to_string(outcome)).append(" ").append(std::to_string(tasks));
    }
    all += '\n';
  };
  for (const auto& [handler, counts] : *reply) {
    add(handler, counts.total);
    for (const auto& [day, tally] : counts.days)
      add(handler + " day " + std::to_string(day.time_since_epoch().count()), tally);
  }
  return all;
}

std::vector<TaskRecord> NamedStore::records() {
  const auto reply = store_.find(ids_);
  return reply ? named(*reply) : std::vector<TaskRecord>{};
}

TaskId NamedStore::id(TaskId name) const {
  const auto order = static_cast<std::size_t>(name);
  return order < ids_.size() ? ids_[order] : TaskId{4711};  // no store draws that one
}

// An id that no verb has announced is a difference of its own; -1 makes it visible.
TaskId NamedStore::name(TaskId id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? TaskId{-1} : found->second;
}

void NamedStore::learn(TaskId id) {
  names_.emplace(id, TaskId{static_cast<std::int64_t>(ids_.size())});
  ids_.push_back(id);
}

std::vector<TaskId> NamedStore::ids(std::vector<TaskId> names) const {
  for (TaskId& each : names) each = id(each);
  return names;
}

std::vector<Ticket> NamedStore::tickets(std::vector<Ticket> named) const {
  for (Ticket& ticket : named) ticket.id = id(ticket.id);
  return named;
}

std::vector<TaskRecord> NamedStore::named(std::vector<TaskRecord> records) const {
  for (TaskRecord& record : records) {
    record.info.id = name(record.info.id);
    if (record.info.requeued_as) record.info.requeued_as = name(*record.info.requeued_as);
  }
  std::sort(records.begin(), records.end(), by_id);
  return records;
}

}  // namespace easyretry::test
