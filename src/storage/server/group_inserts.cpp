#include "storage/server/group_inserts.h"

#include <utility>

namespace easyretry::storage::server {
namespace {

// So many rows make a transaction worth while, and then several are better off at the same time than together.
constexpr std::size_t kWorthItsOwn = 200;

// Alone, the others may work.
bool concerns_one(const Error& error) {
  return error.code == Errc::already_exists || error.code == Errc::invalid_argument;
}

// Somebody else holds a row with the key of one of them, or in MariaDB the gap that a key belongs to.
bool locked_out(const InsertResult& reply) {
  return !reply && reply.error().code == Errc::conflict;
}

// What was said of all, for those from `first` on.
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

// Those that wait for a lock are looked for no longer: behind a locked table it is all of them.
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
              .between = [] {},
              .harden = [](GroupCommit::Group) {}}) {}

InsertResult GroupInserts::insert(std::span<const NewTask> tasks) {
  if (tasks.size() >= kWorthItsOwn) return insert_(pointers(tasks), Locks::polled);
  Submission submission{tasks};
  group_.submit(submission);
  if (locked_out(submission.reply)) return insert_(pointers(tasks), Locks::polled);
  return std::move(submission.reply);
}

// Nobody may be left without an answer.
void GroupInserts::answer(GroupCommit::Group group) {
  try {
    store(group);
  } catch (const std::exception& error) {  // no memory, say; whether it came about is not known
    for (GroupCommit::Entry* entry : group) {
      const Error unknown{Errc::in_doubt, where_, error.what()};
      static_cast<Submission&>(*entry).reply = tl::make_unexpected(InsertFailure{unknown});
    }
  }
}

void GroupInserts::store(GroupCommit::Group group) {
  store(group, caution_.advised() ? Locks::told_at_once : Locks::told, Caution::Steady::now() + kSearch);
}

// One transaction for all; where it fails for what one of them brought, each gets its own. Where it fails for a lock,
// each half gets its own, so that in the end only those are left that meet the lock.
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
