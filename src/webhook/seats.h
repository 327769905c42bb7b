#pragma once
// Numbers for the calls to one server that are under way, each the lowest that is free. One thread.

#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>

namespace easyretry::webhook {

class Seats {
 public:
  std::size_t take(const std::string& server);
  void give_back(const std::string& server, std::size_t seat);

 private:
  struct Server {
    std::size_t seats = 0;         // that there have ever been, at once
    std::set<std::size_t> free{};  // of them
  };
  std::unordered_map<std::string, Server> servers_;  // with somebody in a seat
};

}  // namespace easyretry::webhook
