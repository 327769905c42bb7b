#include "storage/sql/group_inserts.h"

#include <utility>

namespace easyretry::storage::sql {
namespace {

// So many rows make a transaction worth while, and then several are better off at the same time than together.
constexpr std::size_t kWorthItsOwn = 200;

// Alone, the others may work.
bool concerns_one(const Error& error) {
  return error.code == Errc::already_exists || error.code == Errc::invalid_argument;
}

// Somebody else holds a row with the key of one of them, or in MariaDB the gap that a key belongs to.
bool locked_out(const Result<InsertReply>& reply) {
  return !reply && reply.error().code == Errc::conflict;
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
  Result<InsertReply> reply = InsertReply{};
};

GroupInserts::GroupInserts(std::string where, Insert insert)
    : where_(std::move(where)),
      insert_(std::move(insert)),
      group_({.commit = [this](GroupCommit::Group group) { answer(group); },
              .between = [] {},
              .harden = [](GroupCommit::Group) {}}) {}

Result<InsertReply> GroupInserts::insert(std::span<const NewTask> tasks) {
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
      static_cast<Submission&>(*entry).reply = fail(Errc::in_doubt, where_, error.what());
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
    if (!together) {
      submission.reply = tl::make_unexpected(together.error());
      continue;
    }
    const auto first = together->tasks.begin() + static_cast<std::ptrdiff_t>(from);
    from += submission.tasks.size();
    submission.reply = InsertReply{together->now, {first, together->tasks.begin() + static_cast<std::ptrdiff_t>(from)}};
  }
}

}  // namespace easyretry::storage::sql
