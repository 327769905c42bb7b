#include "webhook/seats.h"

namespace easyretry::webhook {

std::size_t Seats::take(const std::string& server) {
  auto& [seats, free] = servers_[server];
  if (free.empty()) return seats++;
  return free.extract(free.begin()).value();
}

void Seats::give_back(const std::string& server, std::size_t seat) {
  const auto found = servers_.find(server);
  auto& [seats, free] = found->second;
  free.insert(seat);
  if (free.size() == seats) servers_.erase(found);
}

}  // namespace easyretry::webhook
