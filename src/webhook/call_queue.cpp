#include "webhook/call_queue.h"

namespace easyretry::webhook {

void CallQueue::push(CallId call, const std::string& server) {
  auto& entry = *servers_.try_emplace(server).first;
  entry.second.waiting.insert(call);
  take_turn(entry);
}

std::optional<CallId> CallQueue::next() {
  while (in_flight_ < total_limit_ && !turns_.empty()) {
    auto& entry = *servers_.find(turns_.front());
    turns_.pop_front();
    Server& server = entry.second;
    server.in_turn = false;
    if (server.waiting.empty()) {
      forget_if_idle(entry.first);
      continue;
    }
    const CallId call = *server.waiting.begin();
    server.waiting.erase(server.waiting.begin());
    ++server.in_flight;
    ++in_flight_;
    take_turn(entry);
    return call;
  }
  return std::nullopt;
}

void CallQueue::remove(CallId call, const std::string& server) {
  servers_.at(server).waiting.erase(call);
  forget_if_idle(server);
}

void CallQueue::release(const std::string& server) {
  auto& entry = *servers_.find(server);
  --entry.second.in_flight;
  --in_flight_;
  take_turn(entry);
  forget_if_idle(server);
}

std::size_t CallQueue::in_flight(const std::string& server) const {
  const auto found = servers_.find(server);
  return found == servers_.end() ? 0 : found->second.in_flight;
}

void CallQueue::take_turn(Servers::value_type& server) {
  auto& [name, state] = server;
  if (state.in_turn || state.waiting.empty() || !has_room(state)) return;
  state.in_turn = true;
  turns_.push_back(name);
}

void CallQueue::forget_if_idle(const std::string& name) {
  const auto found = servers_.find(name);
  const Server& server = found->second;
  if (server.in_flight == 0 && server.waiting.empty() && !server.in_turn) servers_.erase(found);
}

}  // namespace easyretry::webhook
