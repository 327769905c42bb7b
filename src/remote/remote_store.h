#pragma once
// A daemon as a store. The daemon reads and claims due tasks itself, so these two are refused; tasks are leased
// instead.
//
// A request holds up to kMostBodyBytes. A batch that does not fit is sent in several requests; see insert() and
// settle() for what happens if only some of them succeed.

#include <stop_token>

#include "remote/daemon_api.h"
#include "remote/task_text.h"
#include "storage/store.h"

namespace easyretry::remote {

struct LeaseRequest {
  std::vector<std::string> handlers{};
  std::vector<std::string> tells{};  // of them, those with an on_final_failure here
  std::size_t most = 1;
  Millis wait{0};  // for the first task
  Millis lease{0};
};

struct LeaseReply {
  TimePoint now{};
  std::vector<task::TaskRecord> tasks;
};

class RemoteStore final : public storage::Store {
 public:
  // `sealed`: the engine seals arguments and results before they come here.
  RemoteStore(DaemonAddress address, bool sealed) : api_(std::move(address)), sealed_(sealed) {}

  Result<LeaseReply> lease(const LeaseRequest& request, std::stop_token stop);

  storage::StoreInfo info() const override;
  // If a later request of a batch fails, the error is `in_doubt`: some tasks are stored. Before a batch that takes
  // several requests, keys that must not be taken (OnDuplicate::reject) are looked up, so that none is stored if one
  // is.
  storage::InsertResult insert(std::span<const task::NewTask> tasks) override;
  Result<storage::LoadReply> load(const storage::LoadQuery& query) override;
  Result<storage::ClaimReply> claim(const storage::ClaimRequest& request) override;
  // If a later request of a batch fails, the rest is `unanswered`.
  Result<storage::Applied> settle(std::span<const task::Settlement> settlements) override;
  Result<storage::Applied> renew(std::span<const storage::Renewal> renewals) override;
  Result<std::vector<task::TaskRecord>> find(std::span<const TaskId> ids) override;
  // The task when it has ended, with its result if that is kept, or after `wait` as it is. Nullopt: there is no such
  // task.
  Result<std::optional<task::TaskRecord>> find_when_ended(TaskId id, Millis wait, std::stop_token stop);
  Result<std::vector<task::TaskRecord>> list(const TaskQuery& query) override;
  Result<std::int64_t> count(const TaskQuery& query) override;
  // Has no days.
  Result<Counts> counts(std::string_view name_space) override;
  Result<storage::Applied> revise(std::span<const task::Revision> revisions) override;
  Result<storage::Applied> end(std::span<const task::Ending> endings) override;
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids, std::optional<TaskClass> as) override;
  // `invalid_argument` with encryption: a daemon does not say of which version the arguments of an ended task are.
  Result<std::optional<TaskId>> requeue_with(TaskId id, std::string_view arguments,
                                             std::optional<TaskClass> as) override;
  // These apply to the namespace of this store; pausing needs a token with the role operator.
  Result<bool> pause(std::string_view name_space, std::string_view handler, std::string_view why) override;
  Result<bool> resume(std::string_view name_space, std::string_view handler) override;
  Result<storage::PausedReply> paused(std::string_view name_space) override;
  Result<storage::KeepReport> keep() override { return storage::KeepReport{}; }
  Result<bool> expire(std::span<const storage::Retention>) override { return false; }

 private:
  Result<std::optional<TaskId>> requeue_one(TaskId id, std::string body);
  Result<std::vector<task::TaskRecord>> page(const TaskQuery& query);
  Result<bool> change_handler(std::string_view where, std::string_view handler, std::string_view how, std::string body);
  Result<storage::InsertReply> insert_piece(std::string body);
  std::optional<Error> taken_key(std::span<const task::NewTask> tasks);
  Result<storage::Applied> applied(std::string_view where, const std::string& target, std::vector<Piece> pieces);

  DaemonApi api_;
  const bool sealed_;
};

}  // namespace easyretry::remote
