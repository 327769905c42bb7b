#pragma once
// Changes of tasks that are named by their ids: claim, settle, revise, cancel, renew. `begun` is set when some of many
// are done.

#include <span>
#include <vector>

#include "storage/redis/change_jobs.h"
#include "storage/redis/options.h"
#include "storage/redis/parts.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

class Changing {
 public:
  Changing(Parts& parts, const RedisOptions& options) : parts_(parts), options_(options) {}

  // In a cluster, what a part does not answer is missing from the reply, as store.h has it.
  ClaimReply claim(const ClaimRequest& request);
  Applied settle(std::span<const Settlement> settlements, bool& begun);
  Applied renew(std::span<const Renewal> renewals, bool& begun);
  // Here it is an error.
  Applied revise(std::span<const Revision> revisions, bool& begun);
  Applied cancel(std::span<const TaskId> ids, Cancel how, bool& begun);

 private:
  template <class AJob>
  std::vector<std::unique_ptr<AJob>> jobs_for(std::span<const Change> changes);
  template <class AJob>
  Applied apply(How how, std::span<const Change> changes, bool& begun, bool whole);

  Parts& parts_;
  const RedisOptions& options_;
};

}  // namespace easyretry::storage::redis
