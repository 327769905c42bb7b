#pragma once
// A store that counts which verbs are called.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "storage/store.h"

namespace easyretry::cuts {

class CountingStore final : public storage::Store {
 public:
  // `whole` returns the store of the moment: a test may close it and open another one.
  explicit CountingStore(std::function<storage::Store&()> whole) : whole_(std::move(whole)) {}

  std::set<std::string> called() const { return called_; }

#define EASYRETRY_VERB(Reply, verb, parameters, arguments) \
  Reply verb parameters override {                         \
    called_.insert(#verb);                                 \
    return whole_().verb arguments;                        \
  }
  storage::StoreInfo info() const override {
    called_.insert("info");
    return whole_().info();
  }
  using Ids = std::vector<std::optional<TaskId>>;
  using Records = std::vector<task::TaskRecord>;
  using Series = std::vector<storage::SeriesPart>;
  using Tables = std::vector<storage::TableInfo>;
  using Moves = std::vector<storage::SplitMove>;
  using Text = std::string_view;
  using NewTasks = std::span<const task::NewTask>;
  using As = std::optional<TaskClass>;
  EASYRETRY_VERB(storage::InsertResult, insert, (NewTasks all), (all))
  EASYRETRY_VERB(Result<storage::InsertReply>, insert_within, (const Transaction& in, NewTasks all), (in, all))
  EASYRETRY_VERB(Result<storage::LoadReply>, load, (const storage::LoadQuery& query), (query))
  EASYRETRY_VERB(Result<storage::ClaimReply>, claim, (const storage::ClaimRequest& request), (request))
  EASYRETRY_VERB(Result<storage::Applied>, settle, (std::span<const task::Settlement> all), (all))
  EASYRETRY_VERB(Result<storage::Applied>, renew, (std::span<const storage::Renewal> all), (all))
  EASYRETRY_VERB(Result<Records>, find, (std::span<const TaskId> ids), (ids))
  EASYRETRY_VERB(Result<Records>, list, (const TaskQuery& query), (query))
  EASYRETRY_VERB(Result<std::int64_t>, count, (const TaskQuery& query), (query))
  EASYRETRY_VERB(Result<storage::ListPage>, scan, (const TaskQuery& query), (query))
  EASYRETRY_VERB(Result<Counts>, counts, (Text name_space), (name_space))
  EASYRETRY_VERB(Result<storage::Applied>, revise, (std::span<const task::Revision> all), (all))
  EASYRETRY_VERB(Result<storage::Applied>, end, (std::span<const task::Ending> all), (all))
  EASYRETRY_VERB(Result<Ids>, requeue, (std::span<const TaskId> ids, As as), (ids, as))
  EASYRETRY_VERB(Result<std::optional<TaskId>>, requeue_with, (TaskId id, Text with, As as), (id, with, as))
  EASYRETRY_VERB(Result<storage::IntakeReply>, take_in,
                 (const storage::IntakeQuery& query, const storage::Convert& how), (query, how))
  EASYRETRY_VERB(Result<storage::BeatReply>, beat, (const storage::Beat& beat), (beat))
  EASYRETRY_VERB(Result<storage::BeatReply>, members, (Text name_space), (name_space))
  EASYRETRY_VERB(Result<bool>, leave, (Text name_space, Text node), (name_space, node))
  EASYRETRY_VERB(Result<bool>, pause, (Text name_space, Text handler, Text why), (name_space, handler, why))
  EASYRETRY_VERB(Result<bool>, resume, (Text name_space, Text handler), (name_space, handler))
  EASYRETRY_VERB(Result<storage::PausedReply>, paused, (Text name_space), (name_space))
  EASYRETRY_VERB(Result<storage::KeepReport>, keep, (), ())
  EASYRETRY_VERB(Result<bool>, expire, (std::span<const storage::Retention> rules), (rules))
  EASYRETRY_VERB(Result<bool>, fold_counts, (), ())
  EASYRETRY_VERB(Result<bool>, save_series, (Text name_space, const storage::SeriesPart& part), (name_space, part))
  EASYRETRY_VERB(Result<Series>, saved_series, (Text name_space), (name_space))
  EASYRETRY_VERB(Result<Tables>, tables, (), ())
  EASYRETRY_VERB(Result<Moves>, split, (const storage::SplitRequest& request), (request))
  EASYRETRY_VERB(void, announce, (const std::string& name_space), (name_space))
  EASYRETRY_VERB(std::unique_ptr<storage::Subscription>, listen,
                 (const std::string& name_space, std::function<void()> wake), (name_space, std::move(wake)))
#undef EASYRETRY_VERB

 private:
  const std::function<storage::Store&()> whole_;
  mutable std::set<std::string> called_;
};

}  // namespace easyretry::cuts
