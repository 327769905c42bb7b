#include "events/server_sent_events.h"

#include <utility>

namespace easyretry::app {

void ServerSentEvents::take(std::string_view bytes) {
  for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    line_.append(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();
    take_line(line_);
    line_.clear();
  }
  line_.append(bytes);
}

void ServerSentEvents::begin_again() {
  line_.clear();
  id_ = last_id_;
  event_ = {};
}

void ServerSentEvents::take_line(std::string_view line) {
  if (line.empty()) return end_event();
  const auto colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "id") id_ = value;
  if (field == "event") event_.kind = value;
  if (field == "data") event_.data.append(event_.data.empty() ? "" : "\n").append(value);
}

// One without data only says where it is.
void ServerSentEvents::end_event() {
  last_id_ = id_;
  const ServerSentEvent event = std::exchange(event_, {});
  if (!event.data.empty()) tell_(event);
}

}  // namespace easyretry::app
