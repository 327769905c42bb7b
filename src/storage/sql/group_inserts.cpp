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
  if (tasks.size() >= kWorthItsOwn) return insert_(pointers(tasks));
  Submission submission{tasks};
  group_.submit(submission);
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

// One transaction for all; where it fails for what one of them brought, each gets its own.
void GroupInserts::store(GroupCommit::Group group) {
  std::vector<const NewTask*> tasks;
  for (GroupCommit::Entry* entry : group) {
    for (const NewTask& task : static_cast<Submission&>(*entry).tasks) tasks.push_back(&task);
  }
  auto together = insert_(tasks);
  if (!together && group.size() > 1 && concerns_one(together.error())) {
    for (GroupCommit::Entry* const& entry : group) store({&entry, 1});
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
