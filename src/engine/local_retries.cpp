#include "engine/local_retries.h"

#include "engine/reporting.h"
#include "task/transitions.h"

namespace easyretry::engine {

tl::expected<TaskId, std::string> LocalRetries::reserve() {
  const std::lock_guard lock{mutex_};
  if (stopped_) return tl::make_unexpected("the engine stopped");
  if (tasks_.size() + reserved_ >= context_.options.read_ahead) {
    return tl::make_unexpected("too many retries are waiting in memory");
  }
  ++reserved_;
  return TaskId{--last_id_};
}

void LocalRetries::add(TaskId reserved, const task::NewTask& task) {
  {
    const std::lock_guard lock{mutex_};
    --reserved_;
    schedule(tasks_.emplace(reserved, task::new_record(task, reserved, context_.store_now())).first->second);
  }
  wakeup.notify();
}

std::optional<task::TaskRecord> LocalRetries::find(TaskId id) const {
  const std::lock_guard lock{mutex_};
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? std::nullopt : std::optional{found->second};
}

bool LocalRetries::end(const task::Ending& ending) {
  const TaskId id = ending.id;
  TaskInfo before;
  {
    const std::lock_guard lock{mutex_};
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) return false;
    task::TaskRecord& record = found->second;
    const auto event = task::end_event(record, ending);
    if (!event) return false;
    before = record.info;
    due_.erase({record.info.next_at, id});
    if (const RunPtr run = in_flight_.find(id)) run->interrupt_with(Interrupt::cancelled);
    task::apply_end(record, *event, ending, context_.store_now());
    if (record.info.state == TaskState::finished) {
      tasks_.erase(found);
    } else {
      schedule(record);
    }
  }
  wakeup.notify();
  report(context_, ending, before);
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
  // A handler that hangs may outlive the engine.
  run->settled = [self = weak_from_this()](const task::Settlement& settlement) {
    if (const auto alive = self.lock()) alive->settled(settlement);
  };
  Counters::add(context_.counters.claimed);
  workers_.room(no, table->concurrency(no, workers_.size()), 0);  // tells the workers the handler's limit
  in_flight_.add({&run, 1});
  workers_.take({run});
}

void LocalRetries::settled(const task::Settlement& settlement) {
  const TaskId id = settlement.ticket.id;
  TaskInfo task;
  {
    const std::lock_guard lock{mutex_};
    if (closed_) return;
    release(settlement.ticket);
    const auto found = tasks_.find(id);
    if (found == tasks_.end() || !task::holds(found->second, settlement.ticket)) return;  // cancelled
    task = found->second.info;
    task::apply_settlement(found->second, settlement, context_.store_now());
    if (found->second.info.state == TaskState::finished) {
      tasks_.erase(found);
    } else {
      schedule(found->second);
    }
  }
  report(context_, settlement, task);
  wakeup.notify();
}

void LocalRetries::schedule(const task::TaskRecord& record) {
  if (stopped_) return Counters::add(context_.counters.lost_in_memory);
  due_.emplace(record.info.next_at, record.info.id);
}

void LocalRetries::release(const task::Ticket& ticket) {
  const RunPtr run = in_flight_.find(ticket.id);
  if (run && run->ticket() == ticket) in_flight_.remove({&run, 1});
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
               std::to_string(due_.size()) + " retries in memory are lost, because the engine stops");
  due_.clear();
}

}  // namespace easyretry::engine
