#include "engine/dispatcher.h"

#include <map>

#include "engine/elsewhere.h"

namespace easyretry::engine {

void Dispatcher::dispatch(std::vector<task::TaskRecord> won,
                          const std::function<Instant(const task::TaskRecord&)>& trusted_until) const {
  const auto table = context_.handlers.snapshot();
  std::vector<RunPtr> runs;
  runs.reserve(won.size());
  for (task::TaskRecord& record : won) {
    const auto known = table->by_name.find(record.info.handler);
    if (known == table->by_name.end()) continue;  // edited by hand since it was read; its lease will end
    const HandlerNo no = known->second;
    const Instant until = trusted_until(record);
    if (context_.events.heard()) context_.events.tell({EventKind::claimed, context_.store_now(), record.info, {}});
    runs.push_back(std::make_shared<Run>(std::move(record), table->by_number[no], no, until));
  }
  holdings_.add(runs);
  hand_out(std::move(runs));
}

void Dispatcher::hand_out(std::vector<RunPtr> runs) const {
  std::vector<RunPtr> here;
  std::map<Elsewhere*, std::vector<RunPtr>> away;
  for (RunPtr& run : runs) {
    Elsewhere* const elsewhere = run->handler->handler.elsewhere.get();
    (elsewhere == nullptr ? here : away[elsewhere]).push_back(std::move(run));
  }
  for (auto& [elsewhere, theirs] : away) elsewhere->take(std::move(theirs));
  workers_.take(std::move(here));
}

}  // namespace easyretry::engine
