#include "base/log_line.h"

#include <cstdio>
#include <utility>

#include <easyretry/detail/json_text.h>

#include "base/harmless.h"
#include "base/time_text.h"
#include "base/utf8.h"

namespace easyretry {
namespace base {
namespace {

thread_local const LoggedRequest* current_request = nullptr;

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
  }
  return "unknown";
}

void add(JsonWriter& out, std::string_view name, std::string_view value) {
  out.key(name);
  out.string(storable_utf8(value));
}

}  // namespace

std::string to_text(const LogLine& line) {
  std::string text = to_text(line.time) + " easyretry: ";
  text.append(name_of(line.level)).append(": ");
  if (!line.request_id.empty()) text.append("request ").append(line.request_id).append(": ");
  return one_line(text.append(line.message));
}

std::string to_json(const LogLine& line) {
  JsonWriter out;
  out.begin_object();
  add(out, "time", to_text(line.time));
  add(out, "level", name_of(line.level));
  if (!line.request_id.empty()) add(out, "request_id", line.request_id);
  add(out, "message", line.message);
  out.end_object();
  return with_escapes(out.take());
}

LoggedRequest::LoggedRequest(std::string id) : id_(std::move(id)), before_(std::exchange(current_request, this)) {}

LoggedRequest::~LoggedRequest() {
  current_request = before_;
}

std::string_view LoggedRequest::id_on_this_thread() {
  return current_request == nullptr ? std::string_view{} : current_request->id_;
}

}  // namespace base

// One call per line, so that lines of several threads do not mix.
LogSink stderr_log(LogOptions options) {
  return [options](LogLevel level, std::string_view message) {
    if (level < options.level) return;
    const base::LogLine line{system_clock().now(), level, message, base::LoggedRequest::id_on_this_thread()};
    const std::string text = (options.format == LogFormat::json ? base::to_json(line) : base::to_text(line)) + "\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
  };
}

}  // namespace easyretry
