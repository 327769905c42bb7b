#include "storage/mysql/literals.h"

#include <array>

#include "base/utf8.h"

namespace easyretry::storage::mysql {
namespace {

// By byte; 0 for what stands for itself.
constexpr std::array<char, 256> escapes() {
  std::array<char, 256> table{};
  table['\0'] = '0';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\x1a'] = 'Z';
  table['\\'] = '\\';
  table['\''] = '\'';
  return table;
}

constexpr std::array<char, 256> kEscapes = escapes();

char escape_of(char c) {
  return kEscapes[static_cast<unsigned char>(c)];
}

}  // namespace

// In stretches: a statement has megabytes of arguments, and next to none of their bytes are escaped.
std::string escaped(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  std::size_t from = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char escape = escape_of(bytes[at]);
    if (escape == 0) continue;
    text.append(bytes, from, at - from).append({'\\', escape});
    from = at + 1;
  }
  return text.append(bytes, from);
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
