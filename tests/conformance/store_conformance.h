#pragma once
// The suite every store must pass: one file per verb, one registration file per backend. Names are claims of store.h.

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/record_text.h"
#include "storage/store.h"
#include "support/endings.h"
#include "support/store_backend.h"
#include "support/task_builder.h"
#include "task/task_id.h"
#include "task/task_key.h"

namespace easyretry::test {

using namespace std::chrono_literals;
using storage::Applied;
using storage::History;
using storage::Inserted;
using storage::LoadReply;
using storage::Renewal;
using storage::Revision;
using storage::ShardCursor;
using storage::TaskQuery;
using task::Ending;
using task::NewTask;
using task::Settlement;
using task::TaskRecord;
using task::Ticket;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

inline constexpr Millis kLease = 30s;
inline constexpr TaskId kUnknown{4711};

// Endings that a user may order.
inline const Ending kCancelled{.outcome = Outcome::cancelled};
inline const Ending kCancelledAndTold{.outcome = Outcome::cancelled, .tell = true};

// The reply of a verb that must not fail. An error ends the test with its message.
template <class T, class E>
T must(tl::expected<T, E> result) {
  if (!result) throw StoreError{result.error()};
  return *std::move(result);
}

inline Ticket ticket(const TaskRecord& record) {
  return {record.info.id, record.info.version};
}
std::vector<Ticket> tickets(const std::vector<TaskRecord>& records);
inline ShardId shard(const TaskRecord& record) {
  return task::shard_of(record.info.id);
}
std::vector<TaskId> ids_of(const std::vector<TaskRecord>& records);

// The outcomes that a worker may report for a claimed task.
Settlement finish(const TaskRecord& claimed, Outcome outcome = Outcome::succeeded, std::string error = {});
Settlement retry(const TaskRecord& claimed, Millis delay, std::string error = "bank busy");
Settlement advance(const TaskRecord& claimed, Stage stage, Outcome outcome, std::string result = {});
Settlement hand_back(const TaskRecord& claimed);

class StoreConformance : public ::testing::TestWithParam<StoreBackend> {
 protected:
  StoreConformance() { start({}); }

  void start(const StoreSettings& settings) { fixture_ = GetParam().make(settings); }
  void reopen() { fixture_->reopen(); }
  storage::Store& store() { return fixture_->store(); }
  easyretry::testing::ManualClock& clock() { return fixture_->clock; }
  TimePoint now() { return clock().now(); }

  // One task at a time, for claims that are not about batches.
  Inserted put(const NewTask& task);
  TaskRecord insert(const NewTask& task);                                   // must be new
  std::vector<TaskRecord> insert_many(int count, const TaskBuilder& like);  // in one batch, by ascending id
  std::optional<TaskRecord> try_claim(const Ticket& ticket, std::string_view owner = "worker", Millis lease = kLease);
  TaskRecord claim(const TaskRecord& task, std::string_view owner = "worker", Millis lease = kLease);  // must win
  std::vector<TaskRecord> claim_all(const std::vector<TaskRecord>& tasks, std::string_view owner = "worker");
  TaskRecord running(const NewTask& task) { return claim(insert(task)); }
  TaskRecord finished(const NewTask& task, Outcome outcome = Outcome::succeeded);
  std::vector<TaskId> finish_all(const std::vector<TaskRecord>& tasks);  // pending ones, in one batch
  bool settle(const Settlement& settlement);
  bool renew(const TaskRecord& task, Millis lease);
  bool revise(const Revision& revision);
  bool end(TaskId id, const Ending& how);
  bool cancel(TaskId id, const Ending& how = kCancelled) { return end(id, how); }
  std::optional<TaskId> requeue(TaskId id);
  std::optional<TaskRecord> find(TaskId id);
  TaskRecord record(TaskId id);  // must be there
  TaskRecord again(const TaskRecord& task) { return record(task.info.id); }
  std::vector<TaskId> list(const TaskQuery& query) { return ids_of(must(store().list(query))); }
  std::vector<TaskId> all_pages(TaskQuery query);
  std::int64_t count(const TaskQuery& query) { return must(store().count(query)); }

  LoadReply load(std::vector<ShardCursor> from, Millis ahead = 0ms, std::size_t limit = 1000,
                 std::string_view name_space = kNamespace);
  // Page after page, as they come.
  std::vector<TaskId> load_all(Millis ahead, std::size_t limit);
  LoadReply load_shard_of(const TaskRecord& task, Millis ahead = 0ms, std::size_t limit = 1000);
  std::vector<ShardCursor> every_shard();

 private:
  std::unique_ptr<StoreFixture> fixture_;
};

// For backends that outlive their process; the others do not instantiate it.
class DurableStore : public StoreConformance {};

// For backends that several instances share; the others do not instantiate it.
class MeetingStore : public StoreConformance {};

// Compared with the memory store by random sequences.
class StoreModel : public ::testing::TestWithParam<StoreBackend> {};

// As claims and lists return it.
inline TaskRecord without_attempts(TaskRecord record) {
  record.info.last_attempts.clear();
  return record;
}

// Two readings of the same task that must not differ in any field.
inline void expect_same(const TaskRecord& got, const TaskRecord& wanted) {
  EXPECT_EQ(record_text(got), record_text(wanted));
}

inline std::string backend_name(const ::testing::TestParamInfo<StoreBackend>& info) {
  return info.param.name;
}

}  // namespace easyretry::test
