#include "engine/dispatcher.h"

#include <map>

namespace easyretry::engine {

void Dispatcher::dispatch(std::vector<task::TaskRecord> won,
                          const std::function<Instant(const task::TaskRecord&)>& trusted_until) const {
  const auto table = context_.handlers.snapshot();
  std::vector<RunPtr> runs;
  runs.reserve(won.size());
  for (task::TaskRecord& record : won) {
    const auto known = table->by_name.find(record.info.handler);
    if (known == table->by_name.end())
      continue;  // the row was edited manually since it was read; its lease will expire
    const HandlerNo no = known->second;
    const Instant until = trusted_until(record);
    if (context_.events.heard()) context_.events.tell({EventKind::claimed, context_.store_now(), record.info, {}});
    runs.push_back(std::make_shared<Run>(std::move(record), table->by_number[no], no, until));
  }
  in_flight_.add(runs);
  hand_out(std::move(runs));
}

void Dispatcher::hand_out(std::vector<RunPtr> runs) const {
  std::vector<RunPtr> here;
  std::map<RemoteExecutor*, std::vector<RunPtr>> away;
  for (RunPtr& run : runs) {
    RemoteExecutor* const remote = run->handler->handler.remote.get();
    (remote == nullptr ? here : away[remote]).push_back(std::move(run));
  }
  for (auto& [remote, theirs] : away) remote->take(std::move(theirs));
  workers_.take(std::move(here));
}

}  // namespace easyretry::engine
