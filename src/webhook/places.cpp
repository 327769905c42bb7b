#include "webhook/places.h"

namespace easyretry::webhook {

void Places::wait(CallId call, const std::string& server) {
  auto& entry = *servers_.try_emplace(server).first;
  entry.second.waiting.insert(call);
  line_up(entry);
}

std::optional<CallId> Places::next() {
  while (begun_ < in_all_ && !line_.empty()) {
    auto& entry = *servers_.find(line_.front());
    line_.pop_front();
    Server& server = entry.second;
    server.in_line = false;
    if (server.waiting.empty()) {
      forget_if_idle(entry.first);
      continue;
    }
    const CallId call = *server.waiting.begin();
    server.waiting.erase(server.waiting.begin());
    ++server.begun;
    ++begun_;
    line_up(entry);
    return call;
  }
  return std::nullopt;
}

void Places::give_up(CallId call, const std::string& server) {
  servers_.at(server).waiting.erase(call);
  forget_if_idle(server);
}

void Places::leave(const std::string& server) {
  auto& entry = *servers_.find(server);
  --entry.second.begun;
  --begun_;
  line_up(entry);
  forget_if_idle(server);
}

std::size_t Places::begun(const std::string& server) const {
  const auto found = servers_.find(server);
  return found == servers_.end() ? 0 : found->second.begun;
}

void Places::line_up(Servers::value_type& server) {
  auto& [name, state] = server;
  if (state.in_line || state.waiting.empty() || !has_room(state)) return;
  state.in_line = true;
  line_.push_back(name);
}

void Places::forget_if_idle(const std::string& name) {
  const auto found = servers_.find(name);
  const Server& server = found->second;
  if (server.begun == 0 && server.waiting.empty() && !server.in_line) servers_.erase(found);
}

}  // namespace easyretry::webhook
