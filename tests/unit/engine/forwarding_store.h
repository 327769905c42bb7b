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
  Result<Counts> counts(std::string_view name_space) override { return whole_.counts(name_space); }
  Result<storage::Applied> revise(std::span<const storage::Revision> all) override { return whole_.revise(all); }
  Result<storage::Applied> end(std::span<const task::Ending> all) override { return whole_.end(all); }
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids,
                                                     std::optional<TaskClass> as) override {
    return whole_.requeue(ids, as);
  }
  Result<std::optional<TaskId>> requeue_with(TaskId id, std::string_view arguments,
                                             std::optional<TaskClass> as) override {
    return whole_.requeue_with(id, arguments, as);
  }
  Result<bool> pause(std::string_view name_space, std::string_view handler, std::string_view why) override {
    return whole_.pause(name_space, handler, why);
  }
  Result<bool> resume(std::string_view name_space, std::string_view handler) override {
    return whole_.resume(name_space, handler);
  }
  Result<storage::PausedReply> paused(std::string_view name_space) override { return whole_.paused(name_space); }
  Result<storage::KeepReport> keep() override { return whole_.keep(); }
  Result<bool> expire(std::span<const storage::Retention> rules) override { return whole_.expire(rules); }

 protected:
  storage::MemoryStore whole_;
};

}  // namespace easyretry::engine
