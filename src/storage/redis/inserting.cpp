#include "storage/redis/inserting.h"

#include <algorithm>
#include <charconv>

#include "storage/redis/packing.h"
#include "storage/server/server_error.h"
#include "task/task_id.h"
#include "task/transitions.h"

namespace easyretry::storage::redis {

std::optional<std::size_t> Inserting::only_part(std::span<const NewTask> tasks) const {
  if (parts_.size() == 1) return 0;
  std::optional<std::size_t> only;
  for (const NewTask& task : tasks) {
    const std::size_t part = part_of(task::key_digest(task.space, task.key));
    if (only.value_or(part) != part) return std::nullopt;
    only = part;
  }
  return only;
}

InsertReply Inserting::insert(std::span<const NewTask* const> tasks, bool& begun, std::vector<TaskId>& ids) {
  if (tasks.empty()) return {.now = parts_.now(), .tasks = {}};
  ids.assign(tasks.size(), {});  // the reply that is lost may be that of a question for names
  Entries entries;
  entries.reserve(tasks.size());
  for (const NewTask* task : tasks) entries.push_back(entry_of(*task));
  return store_all(std::move(entries), begun, ids);
}

// What is stored is stored: a batch of several parts is not undone where one of them cannot be had.
InsertReply Inserting::store_all(Entries entries, bool& begun, std::vector<TaskId>& ids) {
  InsertReply reply{.now = {}, .tasks = std::vector<Inserted>(entries.size())};
  std::vector<Entries> of_parts(parts_.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].place = i;
    of_parts[part_of(entries[i].digest)].push_back(std::move(entries[i]));
  }
  const Jobs jobs = jobs_for(std::move(of_parts));
  parts_.run(How::work, jobs);
  begun = std::ranges::any_of(jobs, [](const auto& job) { return job->begun(); });
  if (std::ranges::any_of(jobs, [](const auto& job) { return job->failure() != nullptr; })) note_ids(jobs, ids);
  try {
    throw_failure(jobs);
  } catch (const server::Refusal& refusal) {
    if (!begun) throw;
    throw LostReply{server::Trouble::again,
                    refusal.error.detail + "; it came a moment ago, and others of the batch are stored"};
  }
  for (const auto& job : jobs) {
    for (std::size_t i = 0; i < job->entries().size(); ++i) reply.tasks[job->entries()[i].place] = job->inserted()[i];
  }
  reply.now = parts_.time_of(jobs.front()->now());
  return reply;
}

void Inserting::note_ids(const Jobs& jobs, std::vector<TaskId>& ids) {
  for (const auto& job : jobs) {
    const auto& entries = job->entries();
    for (std::size_t i = 0; i < entries.size(); ++i) ids[entries[i].place] = job->id_if_stored(i);
  }
}

Inserting::Jobs Inserting::jobs_for(std::vector<Entries> of_parts) {
  if (std::ranges::count_if(of_parts, [](const Entries& some) { return !some.empty(); }) > 1) refuse_live(of_parts);
  Jobs jobs;
  for (std::size_t i = 0; i < of_parts.size(); ++i) {
    if (of_parts[i].empty()) continue;
    jobs.push_back(std::make_unique<InsertJob>(parts_.at(i), std::move(of_parts[i]),
                                               [this](InsertEntry& entry) { draw_id(entry); }));
  }
  return jobs;
}

// One script can refuse what is in its part alone. So it is asked before anything is stored.
void Inserting::refuse_live(const std::vector<Entries>& of_parts) {
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
    keys.push_back(part.keys().keys(entry->space));
    const std::string_view member{reinterpret_cast<const char*>(entry->digest.data()), entry->digest.size()};
    requests.push_back(part.request(Command::of("ZSCORE", std::string_view{keys.back()}, member)));
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

std::vector<std::optional<TaskId>> Inserting::start_again(std::span<const TaskRecord> ended, bool& begun) {
  if (ended.empty()) return {};
  Entries entries;
  for (const TaskRecord& record : ended) {
    Part& part = parts_.at(part_of(task::key_digest(record.info.space, record.info.key)));
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

std::size_t Inserting::part_of(const task::KeyDigest& digest) const {
  return parts_.number_for(sequence_of(digest));
}

InsertEntry Inserting::entry_of(const NewTask& task) {
  TaskRecord record = task::new_record(task, TaskId{}, TimePoint{});
  record.lease_until = TimePoint{task.lease};
  InsertEntry entry;
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
InsertEntry Inserting::entry_of(const TaskRecord& next) {
  InsertEntry entry;
  entry.flags = kAgain;
  if (next.info.last_failed_at || !next.info.progress.empty()) entry.flags |= kInitial | kTemplate;
  name(entry, next, false);
  return entry;
}

void Inserting::name(InsertEntry& entry, const TaskRecord& record, bool with_rules) {
  const TaskInfo& info = record.info;
  entry.space = info.space;
  entry.key = info.key;
  entry.digest = task::key_digest(info.space, info.key);
  entry.shard = task::shard_for(info.business_id, info.key, total_shards_);
  Part& part = parts_.at(part_of(entry.digest));
  entry.names.space = part.number_of(NameKind::space, info.space);
  entry.names.handler = part.number_of(NameKind::handler, info.handler);
  if (!record.rules.backoff.empty()) {
    entry.names.backoff = part.number_if_few(NameKind::backoff, record.rules.backoff);
  }
  entry.body = body_of(record, entry.names, entry.digest);
  if ((entry.flags & kTemplate) != 0) entry.meta = meta_of(record, entry.names, entry.digest, with_rules);
  draw_id(entry);
}

void Inserting::draw_id(InsertEntry& entry) {
  const Part& part = parts_.at(part_of(entry.digest));
  entry.id = ids_.next(part.estimated_now(), entry.shard, sequence_of(entry.digest));
}

}  // namespace easyretry::storage::redis
