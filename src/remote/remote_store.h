#pragma once
// What a daemon keeps, as a store: everything but reading and claiming, which the daemon does itself. Its tasks are
// leased instead, with lease().

#include <stop_token>

#include "remote/daemon_api.h"
#include "storage/store.h"

namespace easyretry::remote {

struct LeaseWish {
  std::vector<std::string> handlers{};
  std::vector<std::string> tells{};  // of them, those whose owners want to hear of a final failure
  std::size_t most = 1;
  Millis wait{0};  // for the first one
  Millis lease{0};
};

struct LeaseReply {
  TimePoint now{};
  std::vector<task::TaskRecord> tasks;
};

class RemoteStore final : public storage::Store {
 public:
  // `sealed`: arguments and results are sealed before they come here.
  RemoteStore(DaemonAddress address, bool sealed) : api_(std::move(address)), sealed_(sealed) {}

  Result<LeaseReply> lease(const LeaseWish& wish, std::stop_token stop);

  storage::StoreInfo info() const override;
  storage::InsertResult insert(std::span<const task::NewTask> tasks) override;
  Result<storage::LoadReply> load(const storage::LoadQuery& query) override;
  Result<storage::ClaimReply> claim(const storage::ClaimRequest& request) override;
  Result<storage::Applied> settle(std::span<const task::Settlement> settlements) override;
  Result<storage::Applied> renew(std::span<const storage::Renewal> renewals) override;
  Result<std::vector<task::TaskRecord>> find(std::span<const TaskId> ids) override;
  Result<std::vector<task::TaskRecord>> list(const TaskQuery& query) override;
  Result<std::int64_t> count(const TaskQuery& query) override;
  // Without days.
  Result<Counts> counts(std::string_view space) override;
  Result<storage::Applied> revise(std::span<const task::Revision> revisions) override;
  Result<storage::Applied> cancel(std::span<const TaskId> ids, storage::Cancel how) override;
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids) override;
  // Of the namespace that this store is for, as the daemon has it; pausing needs a token of the role operator.
  Result<bool> pause(std::string_view space, std::string_view handler, std::string_view why) override;
  Result<bool> resume(std::string_view space, std::string_view handler) override;
  Result<storage::PausedReply> paused(std::string_view space) override;
  Result<storage::KeepReport> keep() override { return storage::KeepReport{}; }

 private:
  Result<std::vector<task::TaskRecord>> page(const TaskQuery& query);
  Result<bool> change_handler(std::string_view where, std::string_view handler, std::string_view how, std::string body);
  Result<storage::Applied> applied(std::string_view where, std::string target, std::string body, std::size_t n);

  DaemonApi api_;
  const bool sealed_;
};

}  // namespace easyretry::remote
