#pragma once
// Stores the inserts of many callers together: a commit costs the server the same for one row and for hundreds. A large
// batch gets a transaction of its own, and so does one that has to wait for a lock. Safe to call from any thread.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "storage/group_commit.h"
#include "storage/server/server_error.h"
#include "storage/store.h"

namespace easyretry::storage::server {

std::vector<const NewTask*> pointers(std::span<const NewTask> tasks);

class GroupInserts {
 public:
  // Stores all of the tasks in one transaction, or none. Called by several threads at a time.
  using Insert = std::function<InsertResult(std::span<const NewTask* const>, Locks)>;
  GroupInserts(std::string where, Insert insert);

  InsertResult insert(std::span<const NewTask> tasks);

 private:
  struct Submission;

  void answer(GroupCommit::Group group);
  void store(GroupCommit::Group group);
  void store(GroupCommit::Group group, Locks locks, Caution::Steady::time_point until);

  const std::string where_;
  const Insert insert_;
  Caution caution_;
  GroupCommit group_;
};

}  // namespace easyretry::storage::server
