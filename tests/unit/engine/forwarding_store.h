#pragma once
// A store in memory, for those who want another one that differs from it in a verb or two.

#include "storage/memory/memory_store.h"

namespace easyretry::engine {

class ForwardingStore : public storage::Store {
 public:
  explicit ForwardingStore(const Clock& clock) : whole_({}, clock) {}

  storage::StoreInfo info() const override { return whole_.info(); }
  storage::InsertResult insert(std::span<const task::NewTask> tasks) override { return whole_.insert(tasks); }
  Result<storage::LoadReply> load(const storage::LoadQuery& query) override { return whole_.load(query); }
  Result<storage::ClaimReply> claim(const storage::ClaimRequest& request) override { return whole_.claim(request); }
  Result<storage::Applied> settle(std::span<const task::Settlement> all) override { return whole_.settle(all); }
  Result<storage::Applied> renew(std::span<const storage::Renewal> all) override { return whole_.renew(all); }
  Result<std::vector<task::TaskRecord>> find(std::span<const TaskId> ids) override { return whole_.find(ids); }
  Result<std::vector<task::TaskRecord>> list(const storage::TaskQuery& query) override { return whole_.list(query); }
  Result<std::int64_t> count(const storage::TaskQuery& query) override { return whole_.count(query); }
  Result<Counts> counts(std::string_view space) override { return whole_.counts(space); }
  Result<storage::Applied> revise(std::span<const storage::Revision> all) override { return whole_.revise(all); }
  Result<storage::Applied> cancel(std::span<const TaskId> ids, storage::Cancel how) override {
    return whole_.cancel(ids, how);
  }
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids) override {
    return whole_.requeue(ids);
  }
  Result<bool> pause(std::string_view space, std::string_view handler, std::string_view why) override {
    return whole_.pause(space, handler, why);
  }
  Result<bool> resume(std::string_view space, std::string_view handler) override {
    return whole_.resume(space, handler);
  }
  Result<storage::PausedReply> paused(std::string_view space) override { return whole_.paused(space); }
  Result<storage::KeepReport> keep() override { return whole_.keep(); }

 protected:
  storage::MemoryStore whole_;
};

}  // namespace easyretry::engine
