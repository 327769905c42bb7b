#pragma once
// Server-sent events out of the bytes of a stream, however these are cut.

#include <functional>
#include <string>
#include <string_view>

namespace easyretry::app {

struct ServerSentEvent {
  std::string kind{};
  std::string data{};
};

class ServerSentEvents {
 public:
  using Tell = std::function<void(const ServerSentEvent&)>;
  explicit ServerSentEvents(Tell tell) : tell_(std::move(tell)) {}

  void take(std::string_view bytes);
  // What a connection that was lost has left unfinished is told again by the next one.
  void begin_again();

  // Of what was told last: where to go on.
  const std::string& last_id() const { return last_id_; }

 private:
  void take_line(std::string_view line);
  void end_event();

  const Tell tell_;
  std::string line_;  // as far as it has come
  std::string id_;
  std::string last_id_;
  ServerSentEvent event_;
};

}  // namespace easyretry::app
