#include "conformance/store_conformance.h"

#include <algorithm>
#include <stdexcept>

namespace easyretry::test {

std::vector<TaskId> ids_of(const std::vector<TaskRecord>& records) {
  std::vector<TaskId> ids;
  for (const TaskRecord& record : records) ids.push_back(record.info.id);
  return ids;
}

std::vector<Ticket> tickets(const std::vector<TaskRecord>& records) {
  std::vector<Ticket> all;
  for (const TaskRecord& record : records) all.push_back(ticket(record));
  return all;
}

Settlement finish(const TaskRecord& claimed, Outcome outcome, std::string error) {
  Settlement done;
  done.ticket = ticket(claimed);
  done.kind = Settlement::Kind::finish;
  done.outcome = outcome;
  done.error = std::move(error);
  return done;
}

Settlement retry(const TaskRecord& claimed, Millis delay, std::string error) {
  Settlement later;
  later.ticket = ticket(claimed);
  later.kind = Settlement::Kind::retry;
  later.delay = delay;
  later.error = std::move(error);
  return later;
}

Settlement advance(const TaskRecord& claimed, Stage stage, Outcome outcome, std::string result) {
  Settlement next;
  next.ticket = ticket(claimed);
  next.kind = Settlement::Kind::advance;
  next.stage = stage;
  next.outcome = outcome;
  next.result = std::move(result);
  return next;
}

Settlement hand_back(const TaskRecord& claimed) {
  Settlement back;
  back.ticket = ticket(claimed);
  back.kind = Settlement::Kind::hand_back;
  return back;
}

Inserted StoreConformance::put(const NewTask& task) {
  return must(store().insert({&task, 1})).tasks.at(0);
}

TaskRecord StoreConformance::insert(const NewTask& task) {
  const Inserted inserted = put(task);
  if (!inserted.created) throw std::logic_error("the test meant a new task, but its key is live: " + task.key);
  return record(inserted.id);
}

std::vector<TaskRecord> StoreConformance::insert_many(int count, const TaskBuilder& like) {
  std::vector<NewTask> batch(static_cast<std::size_t>(count), like);
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].key += "/" + std::to_string(i);
  std::vector<TaskId> ids;
  for (const Inserted& inserted : must(store().insert(batch)).tasks) ids.push_back(inserted.id);
  auto tasks = must(store().find(ids));
  std::sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.info.id < b.info.id; });
  return tasks;
}

std::optional<TaskRecord> StoreConformance::try_claim(const Ticket& ticket, std::string_view owner, Millis lease) {
  auto won = must(store().claim({.tickets = {&ticket, 1}, .owner = owner, .lease = lease})).won;
  if (won.empty()) return std::nullopt;
  return std::move(won.front());
}

TaskRecord StoreConformance::claim(const TaskRecord& task, std::string_view owner, Millis lease) {
  return try_claim(ticket(task), owner, lease).value();
}

std::vector<TaskRecord> StoreConformance::claim_all(const std::vector<TaskRecord>& tasks, std::string_view owner) {
  const std::vector<Ticket> wanted = tickets(tasks);
  return must(store().claim({.tickets = wanted, .owner = owner, .lease = kLease})).won;
}

TaskRecord StoreConformance::finished(const NewTask& task, Outcome outcome) {
  const TaskRecord done = running(task);
  if (!settle(finish(done, outcome))) throw std::logic_error("a task just claimed must be settled");
  return record(done.info.id);
}

std::vector<TaskId> StoreConformance::finish_all(const std::vector<TaskRecord>& tasks) {
  std::vector<Settlement> done;
  for (const TaskRecord& task : claim_all(tasks)) done.push_back(finish(task));
  must(store().settle(done));
  return ids_of(tasks);
}

std::vector<TaskId> StoreConformance::all_pages(TaskQuery query) {
  std::vector<TaskId> ids;
  for (auto page = list(query); !page.empty(); page = list(query)) {
    EXPECT_LE(page.size(), query.limit);
    ids.insert(ids.end(), page.begin(), page.end());
    query.after = ids.back();
  }
  return ids;
}

bool StoreConformance::settle(const Settlement& settlement) {
  return must(store().settle({&settlement, 1})).applied.at(0);
}

bool StoreConformance::renew(const TaskRecord& task, Millis lease) {
  const Renewal renewal{ticket(task), lease};
  return must(store().renew({&renewal, 1})).applied.at(0);
}

bool StoreConformance::revise(const Revision& revision) {
  return must(store().revise({&revision, 1})).applied.at(0);
}

bool StoreConformance::end(TaskId id, const Ending& how) {
  return must(store().end(endings({&id, 1}, how))).applied.at(0);
}

std::optional<TaskId> StoreConformance::requeue(TaskId id) {
  return must(store().requeue({&id, 1})).at(0);
}

std::optional<TaskRecord> StoreConformance::find(TaskId id) {
  auto found = must(store().find({&id, 1}));
  if (found.empty()) return std::nullopt;
  return std::move(found.at(0));
}

TaskRecord StoreConformance::record(TaskId id) {
  return find(id).value();
}

LoadReply StoreConformance::load(std::vector<ShardCursor> from, Millis ahead, std::size_t limit,
                                 std::string_view name_space) {
  return must(store().load({.name_space = name_space, .from = from, .ahead = ahead, .limit = limit}));
}

std::vector<TaskId> StoreConformance::load_all(Millis ahead, std::size_t limit) {
  std::vector<TaskId> ids;
  auto from = every_shard();
  for (int pages = 0; !from.empty() && pages < 100; ++pages) {
    const LoadReply reply = load(from, ahead, limit);
    EXPECT_LE(reply.tasks.size(), limit * from.size());
    for (const auto& task : reply.tasks) ids.push_back(task.id);
    from = reply.more;
  }
  return ids;
}

LoadReply StoreConformance::load_shard_of(const TaskRecord& task, Millis ahead, std::size_t limit) {
  return load({ShardCursor{.shard = shard(task)}}, ahead, limit);
}

std::vector<ShardCursor> StoreConformance::every_shard() {
  std::vector<ShardCursor> all;
  for (int i = 0; i < store().info().total_shards; ++i) {
    all.push_back({.shard = ShardId{static_cast<std::uint16_t>(i)}});
  }
  return all;
}

}  // namespace easyretry::test
