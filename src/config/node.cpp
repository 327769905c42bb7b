#include "config/node.h"

#include <algorithm>

#include <easyretry/config.h>
#include <easyretry/detail/json_text.h>

#include "base/harmless.h"

namespace easyretry {
namespace {

std::string lines_of(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) text.append(text.empty() ? "" : "\n").append(problem);
  return text;
}

}  // namespace

ConfigError::ConfigError(std::vector<std::string> problems)
    : std::invalid_argument(lines_of(problems)), problems_(std::move(problems)) {}

namespace config {
namespace {

bool is_plain(std::string_view key) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-' || c == ':';
  };
  return !key.empty() && key.size() <= 64 && std::all_of(key.begin(), key.end(), plain);
}

// Does not cut inside a character.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

// A message may quote the file, which may contain anything.
std::string one_line(std::string_view text) {
  constexpr std::size_t kMost = 500;
  const std::string_view shown = cut(text, kMost);
  return base::one_line(shown) + (shown.size() < text.size() ? "…" : "");
}

}  // namespace

std::string to_text(const Place& place) {
  std::string text{place.source};
  if (place.line > 0) text += ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  return text;
}

std::string_view kind_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::nothing: return "nothing";
    case Node::Kind::word: return "a single value";
    case Node::Kind::list: return "a list";
    case Node::Kind::map: return "keys and values";
    case Node::Kind::alias: return "an alias (aliases are not supported)";
  }
  return "something else";
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 60;
  const std::string_view shown = cut(text, kMost);
  JsonWriter writer;
  writer.string(shown);
  return writer.take() + (shown.size() < text.size() ? "…" : "");
}

std::string path_of(const std::string& path, std::string_view key) {
  return (path.empty() ? "" : path + ".") + (is_plain(key) ? std::string{key} : in_quotes(key));
}

void Problems::add(const Place& place, std::string_view what) {
  if (++count_ <= kMost) lines_.push_back(to_text(place) + ": " + one_line(what));
}

void Problems::throw_if_any() const {
  if (none()) return;
  auto lines = lines_;
  if (count_ > kMost) lines.push_back("… and " + std::to_string(count_ - kMost) + " more");
  throw ConfigError(std::move(lines));
}

}  // namespace config
}  // namespace easyretry
