#include "http/target.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"

namespace easyretry::http {
namespace {

bool read_query(std::string_view text, std::map<std::string, std::string>& into) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    auto name = percent_decoded(pair.substr(0, equals), true);
    auto value = percent_decoded(equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1), true);
    if (!name || !value) return false;
    into.insert_or_assign(*std::move(name), *std::move(value));
  }
  return true;
}

bool read_segments(std::string_view path, std::vector<std::string>& into) {
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    auto decoded = percent_decoded(segment, false);
    if (!decoded || *decoded == "." || *decoded == "..") return false;
    into.push_back(*std::move(decoded));
    path.remove_prefix(segment.size());
  }
  return true;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    decoded.push_back(static_cast<char>(byte));
    i += 2;
  }
  if (decoded.find('\0') != std::string::npos || base::invalid_utf8(decoded) != std::string::npos) return std::nullopt;
  return decoded;
}

std::optional<Target> parse_target(std::string_view text) {
  text = text.substr(0, text.find('#'));
  const std::string_view path = text.substr(0, text.find('?'));
  if (!path.starts_with('/')) return std::nullopt;
  Target target;
  if (!read_segments(path, target.segments)) return std::nullopt;
  target.path = *percent_decoded(path, false);
  if (path.size() < text.size() && !read_query(text.substr(path.size() + 1), target.query)) return std::nullopt;
  return target;
}

}  // namespace easyretry::http
