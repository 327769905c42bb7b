#include "storage/server/group_inserts.h"

#include <utility>

namespace easyretry::storage::server {
namespace {

// A batch of this size is worth a transaction: several such transactions at the same time are faster than one.
constexpr std::size_t kWorthItsOwn = 200;

// The error is about one task of the group: the others may be stored without it.
bool concerns_one(const Error& error) {
  return error.code == Errc::already_exists || error.code == Errc::invalid_argument;
}

// Another transaction holds a row with the key of one of the tasks, or in MariaDB the gap that a key belongs to.
bool locked_out(const InsertResult& reply) {
  return !reply && reply.error().code == Errc::conflict;
}

// The part of the answer for `count` tasks from `first` on.
InsertResult part_of(const InsertResult& all, std::size_t first, std::size_t count) {
  const auto part = [&](const auto& of_all) {
    const auto begin = of_all.begin() + static_cast<std::ptrdiff_t>(first);
    return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  if (all) return InsertReply{all->now, part(all->tasks)};
  InsertFailure failure = all.error();
  if (!failure.ids.empty()) failure.ids = part(all.error().ids);
  return tl::make_unexpected(std::move(failure));
}

// How long to search for the inserts that wait for a lock: behind a locked table, all of them do.
constexpr std::chrono::seconds kSearch{3};

}  // namespace

std::vector<const NewTask*> pointers(std::span<const NewTask> tasks) {
  std::vector<const NewTask*> all;
  all.reserve(tasks.size());
  for (const NewTask& task : tasks) all.push_back(&task);
  return all;
}

// One caller's insert.
struct GroupInserts::Submission : GroupCommit::Entry {
  explicit Submission(std::span<const NewTask> wanted) : Entry(wanted.size(), Answered::at_commit), tasks(wanted) {}
  const std::span<const NewTask> tasks;
  InsertResult reply = InsertReply{};
};

GroupInserts::GroupInserts(std::string where, Insert insert)
    : where_(std::move(where)),
      insert_(std::move(insert)),
      group_({.commit = [this](GroupCommit::Group group) { answer(group); },
              .before_commit = [] {},
              .sync = [](GroupCommit::Group) {}}) {}

InsertResult GroupInserts::insert(std::span<const NewTask> tasks) {
  if (tasks.size() >= kWorthItsOwn) return insert_(pointers(tasks), Locks::polled);
  Submission submission{tasks};
  group_.submit(submission);
  if (locked_out(submission.reply)) return insert_(pointers(tasks), Locks::polled);
  return std::move(submission.reply);
}

// Every caller must get an answer.
void GroupInserts::answer(GroupCommit::Group group) {
  try {
    store(group);
  } catch (const std::exception& error) {  // out of memory, for example; it is unknown whether the tasks were stored
    for (GroupCommit::Entry* entry : group) {
      const Error unknown{Errc::in_doubt, where_, error.what()};
      static_cast<Submission&>(*entry).reply = tl::make_unexpected(InsertFailure{unknown});
    }
  }
}

void GroupInserts::store(GroupCommit::Group group) {
  store(group, caution_.advised() ? Locks::told_at_once : Locks::told, Caution::Steady::now() + kSearch);
}

// One transaction for all. If it fails because of one of the tasks, each caller gets its own transaction. If it fails
// because of a lock, each half of the group gets its own, until only the callers that need the lock are left.
void GroupInserts::store(GroupCommit::Group group, Locks locks, Caution::Steady::time_point until) {
  std::vector<const NewTask*> tasks;
  for (GroupCommit::Entry* entry : group) {
    for (const NewTask& task : static_cast<Submission&>(*entry).tasks) tasks.push_back(&task);
  }
  auto together = insert_(tasks, locks);
  if (locked_out(together)) caution_.advise();
  if (locked_out(together) && group.size() > 1 && Caution::Steady::now() < until) {
    store(group.first(group.size() / 2), Locks::told_at_once, until);
    store(group.subspan(group.size() / 2), Locks::told_at_once, until);
    return;
  }
  if (!together && group.size() > 1 && concerns_one(together.error())) {
    for (GroupCommit::Entry* const& entry : group) store({&entry, 1}, Locks::told_at_once, until);
    return;
  }
  std::size_t from = 0;
  for (GroupCommit::Entry* entry : group) {
    auto& submission = static_cast<Submission&>(*entry);
    submission.reply = part_of(together, from, submission.tasks.size());
    from += submission.tasks.size();
  }
}

}  // namespace easyretry::storage::server
