#pragma once
// A line of the log, as stderr_log() writes it.

#include <string>
#include <string_view>

#include <easyretry/options.h>
#include <easyretry/time.h>

namespace easyretry::base {

struct LogLine {
  TimePoint time{};
  LogLevel level = LogLevel::info;
  std::string_view message{};
  std::string_view request_id{};  // may be empty
};

// One line each, without its end, whatever the message contains.
std::string to_text(const LogLine& line);
std::string to_json(const LogLine& line);

// While it lives, all lines that its thread logs carry the id of a request, also those of the engine and the store.
class LoggedRequest {
 public:
  explicit LoggedRequest(std::string id);
  ~LoggedRequest();
  LoggedRequest(const LoggedRequest&) = delete;
  LoggedRequest& operator=(const LoggedRequest&) = delete;

  static std::string_view id_on_this_thread();  // empty without one

 private:
  const std::string id_;
  const LoggedRequest* const before_;  // of the same thread, if they are nested
};

}  // namespace easyretry::base
