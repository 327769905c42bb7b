#pragma once
// The store as one process sees it: calls take time, fail, lose their reply, arrive after they were given up, or are
// the last thing the process does. Writes what the store behind it really did into the journal, whether the process
// learns of it or not.

#include "sim/far_store.h"
#include "sim/journal.h"
#include "sim/process.h"
#include "sim/weather.h"

namespace easyretry::sim {

class FaultyStore final : public storage::Store {
 public:
  FaultyStore(FarStore& real, Weather& weather, Journal& journal, Process& process, int instance)
      : far_{&real, &journal, instance}, weather_(weather), process_(process) {}

  storage::StoreInfo info() const override { return far_.store->info(); }
  storage::InsertResult insert(std::span<const task::NewTask> tasks) override;
  Result<storage::LoadReply> load(const storage::LoadQuery& query) override;
  Result<storage::ClaimReply> claim(const storage::ClaimRequest& request) override;
  Result<storage::Applied> settle(std::span<const task::Settlement> settlements) override;
  Result<storage::Applied> renew(std::span<const storage::Renewal> renewals) override;
  Result<std::vector<task::TaskRecord>> find(std::span<const TaskId> ids) override;
  Result<std::vector<task::TaskRecord>> list(const storage::TaskQuery& query) override;
  Result<std::int64_t> count(const storage::TaskQuery& query) override;
  Result<Counts> counts(std::string_view name_space) override;
  Result<storage::Applied> revise(std::span<const storage::Revision> revisions) override;
  Result<storage::Applied> end(std::span<const task::Ending> endings) override;
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids, std::optional<TaskClass> as) override;
  Result<std::optional<TaskId>> requeue_with(TaskId id, std::string_view arguments,
                                             std::optional<TaskClass> as) override;
  Result<storage::BeatReply> beat(const storage::Beat& beat) override;
  Result<storage::BeatReply> members(std::string_view name_space) override;
  Result<bool> leave(std::string_view name_space, std::string_view node) override;
  Result<bool> pause(std::string_view name_space, std::string_view handler, std::string_view why) override;
  Result<bool> resume(std::string_view name_space, std::string_view handler) override;
  Result<storage::PausedReply> paused(std::string_view name_space) override;
  Result<storage::KeepReport> keep() override;
  Result<bool> expire(std::span<const storage::Retention> rules) override;

 private:
  // The server's side: changes are made and written to the journal there, even if the process is dead by then. Copied
  // into every request that changes something.
  struct FarEnd {
    FarStore* store;
    Journal* journal;
    int instance;
    storage::Store& tasks() const { return store->tasks(); }
    storage::Store& members() const { return store->members(); }
    void write(What what) const { journal->write(instance, std::move(what)); }
  };

  // A read changes nothing, so a lost reply leaves no doubt: it is made again.
  template <class Request>
  auto read(std::string_view verb, Request request) -> decltype(request());
  // The request owns what it needs: it may be carried out late.
  template <class Request>
  auto change(std::string_view verb, Request request) -> decltype(request());
  template <class Request>
  auto travel(std::string_view verb, Request request, Weather::Fate fate, Errc when_lost) -> decltype(request());

  const FarEnd far_;
  Weather& weather_;
  Process& process_;
};

}  // namespace easyretry::sim
