#pragma once
// Which calls may begin: so many at once in all, and so many to one server. The others wait in line, first come first
// served; among servers with room, each in turn, so that a slow one with a long line does not hold up the others. One
// thread.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace easyretry::webhook {

using CallId = std::uint64_t;  // later calls have greater ones

class Places {
 public:
  Places(std::size_t in_all, std::size_t per_server) : in_all_(in_all), per_server_(per_server) {}

  void wait(CallId call, const std::string& server);
  // Takes the place of the next one that may begin.
  std::optional<CallId> next();
  // One that waited, and does so no more.
  void give_up(CallId call, const std::string& server);
  // One that had begun has ended.
  void leave(const std::string& server);

  std::size_t begun() const { return begun_; }
  std::size_t begun(const std::string& server) const;

 private:
  struct Server {
    std::size_t begun = 0;
    std::set<CallId> waiting{};
    bool in_line = false;
  };
  using Servers = std::unordered_map<std::string, Server>;

  bool has_room(const Server& server) const { return server.begun < per_server_; }
  // Has a turn, if somebody waits for it and it has room.
  void line_up(Servers::value_type& server);
  void forget_if_idle(const std::string& name);

  const std::size_t in_all_;
  const std::size_t per_server_;
  std::size_t begun_ = 0;
  Servers servers_;
  std::deque<std::string> line_;  // of servers with in_line
};

}  // namespace easyretry::webhook
