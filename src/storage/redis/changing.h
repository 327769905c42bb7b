#pragma once
// Changes of tasks that are named by their ids: claim, settle, cancel, renew. `begun` is set when some of many are
// done.

#include <span>
#include <vector>

#include "storage/redis/options.h"
#include "storage/redis/server.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

class Changing {
 public:
  Changing(Server& server, const RedisOptions& options) : server_(server), options_(options) {}

  ClaimReply claim(const ClaimRequest& request);
  Applied settle(std::span<const Settlement> settlements, bool& begun);
  Applied cancel(std::span<const TaskId> ids, Cancel how, bool& begun);
  Applied renew(std::span<const Renewal> renewals, bool& begun);

 private:
  struct Change;
  struct Answers;

  TimePoint claim_some(std::span<const Ticket> tickets, const ClaimRequest& request, std::vector<TaskRecord>& won);
  template <class Some>
  Applied apply(std::span<const Change> changes, bool& begun, Some some);
  Answers settle_some(std::span<const Change> changes);
  void settle_rest(std::span<const Change> changes, Answers& answers);
  Answers renew_some(std::span<const Change> changes);
  bool learn_spaces(std::string_view numbers);

  Server& server_;
  const RedisOptions& options_;
};

}  // namespace easyretry::storage::redis
