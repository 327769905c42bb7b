#include "storage/mysql/literals.h"

#include "base/utf8.h"

namespace easyretry::storage::mysql {
namespace {

// 0 for what stands for itself.
char escape_of(char c) {
  switch (c) {
    case '\0': return '0';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\x1a': return 'Z';
    case '\\': return '\\';
    case '\'': return '\'';
    default: return 0;
  }
}

}  // namespace

std::string escaped(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) {
    const char escape = escape_of(c);
    if (escape != 0) text.push_back('\\');
    text.push_back(escape != 0 ? escape : c);
  }
  return text;
}

std::string bytes(std::string_view value) {
  return "_binary'" + escaped(value) + "'";
}

std::string bytes_or_null(std::string_view value) {
  return value.empty() ? "NULL" : bytes(value);
}

std::string characters(std::string_view value) {
  return "'" + escaped(base::storable_utf8(value)) + "'";
}

std::string maybe_time(const std::optional<TimePoint>& time) {
  return time ? literal(*time) : "NULL";
}

std::string id_list(std::span<const TaskId> ids) {
  std::string list;
  for (const TaskId id : ids) list.append(list.empty() ? "(" : ",").append(literal(id));
  return list.append(")");
}

std::string time_or_servers(std::optional<TimePoint> time) {
  return time ? literal(*time) : kServerTime;
}

std::string later(const std::string& time, Millis delay) {
  constexpr Millis kForEver = std::chrono::years{10'000};
  return delay >= kForEver ? literal(TimePoint::max()) : "(" + time + " + " + literal(delay.count()) + ")";
}

}  // namespace easyretry::storage::mysql
