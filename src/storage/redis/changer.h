#pragma once
// Changes tasks that are named by their ids: claim, settle, renew, revise, end. Sets `begun` if some of several
// changes are done.

#include <memory>
#include <span>
#include <vector>

#include "storage/redis/parts.h"
#include "storage/redis/redis_store.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

struct Change;

class Changer {
 public:
  Changer(Parts& parts, const RedisOptions& options) : parts_(parts), options_(options) {}

  // In a cluster, the reply lacks the tasks of a part that does not answer (store.h).
  ClaimReply claim(const ClaimRequest& request);
  Applied settle(std::span<const Settlement> settlements, bool& begun);
  Applied renew(std::span<const Renewal> renewals, bool& begun);
  // A part that does not answer is an error.
  Applied revise(std::span<const Revision> revisions, bool& begun);
  Applied end(std::span<const Ending> endings, bool& begun);

 private:
  template <class AJob>
  Applied apply(CallKind kind, std::span<const Change> changes, bool& begun, bool whole);

  Parts& parts_;
  const RedisOptions& options_;
};

}  // namespace easyretry::storage::redis
