#include "engine/local_retries.h"

#include "engine/reporting.h"
#include "task/transitions.h"

namespace easyretry::engine {

std::optional<TaskId> LocalRetries::reserve() {
  const std::lock_guard lock{mutex_};
  if (tasks_.size() + reserved_ >= context_.options.read_ahead) return std::nullopt;
  ++reserved_;
  return TaskId{--last_id_};
}

void LocalRetries::add(TaskId reserved, const task::NewTask& task) {
  {
    const std::lock_guard lock{mutex_};
    --reserved_;
    const auto& record = tasks_.emplace(reserved, task::new_record(task, reserved, context_.store_now())).first->second;
    due_.emplace(record.info.next_at, reserved);
  }
  bell.ring();
}

std::optional<TaskInfo> LocalRetries::find(TaskId id) const {
  const std::lock_guard lock{mutex_};
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? std::nullopt : std::optional{found->second.info};
}

bool LocalRetries::cancel(TaskId id) {
  const std::lock_guard lock{mutex_};
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return false;
  due_.erase({found->second.info.next_at, id});
  tasks_.erase(found);
  if (const RunPtr run = holdings_.find(id)) run->interrupt_with(Interrupt::cancelled);
  Counters::add(context_.counters.cancelled);
  return true;
}

std::optional<TimePoint> LocalRetries::next_due() const {
  const std::lock_guard lock{mutex_};
  return due_.empty() ? std::nullopt : std::optional{due_.begin()->first};
}

Step LocalRetries::step() {
  const auto due = take_due(context_.store_now());
  for (const task::TaskRecord& record : due) start(record);
  const auto next = next_due();
  return {!due.empty(), next ? context_.store_time.when(*next) : Instant::max()};
}

std::vector<task::TaskRecord> LocalRetries::take_due(TimePoint now) {
  const std::lock_guard lock{mutex_};
  std::vector<task::TaskRecord> due;
  while (!stopped_ && !due_.empty() && due_.begin()->first <= now) {
    task::TaskRecord& record = tasks_.at(due_.begin()->second);
    due_.erase(due_.begin());
    task::apply_claim(record, task::Event::claim, context_.owner, now, context_.options.lease);
    due.push_back(record);
  }
  return due;
}

void LocalRetries::start(const task::TaskRecord& record) {
  const auto table = context_.handlers.snapshot();
  const HandlerNo no = table->by_name.at(record.info.handler);
  auto run = std::make_shared<Run>(record, table->by_number[no], no, Instant::max());
  // A handler that hangs may outlive the engine, and this part of it.
  run->settled = [self = weak_from_this()](const task::Settlement& settlement) {
    if (const auto alive = self.lock()) alive->settled(settlement);
  };
  Counters::add(context_.counters.claimed);
  workers_.room(no, table->concurrency(no, workers_.size()), 0);  // tells the workers the handler's limit
  holdings_.add({&run, 1});
  workers_.take({run});
}

void LocalRetries::settled(const task::Settlement& settlement) {
  const TaskId id = settlement.ticket.id;
  TaskInfo task;
  {
    const std::lock_guard lock{mutex_};
    if (closed_) return;
    if (const RunPtr run = holdings_.find(id)) holdings_.remove({&run, 1});
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) return;  // cancelled
    task = found->second.info;
    task::apply_settlement(found->second, settlement, context_.store_now());
    if (found->second.info.state == TaskState::finished) {
      tasks_.erase(found);
    } else {
      due_.emplace(found->second.info.next_at, id);
    }
  }
  report(context_, settlement, task);
  bell.ring();
}

void LocalRetries::close() {
  const std::lock_guard lock{mutex_};
  closed_ = true;
}

void LocalRetries::stop() {
  const std::lock_guard lock{mutex_};
  stopped_ = true;
  if (due_.empty()) return;
  Counters::add(context_.counters.lost_in_memory, due_.size());
  context_.log(LogLevel::warning,
               std::to_string(due_.size()) + " retries that were kept in memory are lost with this stop");
  due_.clear();
}

}  // namespace easyretry::engine
