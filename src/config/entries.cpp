#include "config/entries.h"

#include <map>

#include "base/nearest.h"

namespace easyretry::config {
namespace {

std::string example_in(std::string_view path) {
  if (path.empty()) return "workers: 8";
  if (path == kHandlers) return "payment.pay: {timeout: 10s}";
  if (path == kServer) return "listen: 127.0.0.1:7077";
  if (path == kAlerts) return "channels: {ops: {type: slack}}";
  if (path.starts_with("alerts.channels")) return "type: slack";
  if (path.starts_with("alerts.rules")) return "final_failures: 1";
  return "max_attempts: 5";
}

std::string not_a_group(const Node& node, const std::string& path) {
  return (path.empty() ? "" : path + ": ") + "found " + std::string{kind_text(node)} +
         "; write keys and values, such as \"" + example_in(path) + "\"";
}

}  // namespace

std::string unknown_key(std::string_view name, const std::vector<std::string_view>& known) {
  if (const auto meant = base::nearest(name, known)) return "unknown key, did you mean " + std::string{*meant} + "?";
  std::string text = "unknown key; known are";
  for (const std::string_view key : known) text.append(key == known.front() ? " " : ", ").append(key);
  return text;
}

void Entries::each(const Node& map, const std::string& path, const Visit& visit) {
  if (map.kind == Node::Kind::nothing) return;
  if (map.kind != Node::Kind::map) return problems_.add(map.place, not_a_group(map, path));
  std::map<std::string_view, int> lines;
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    const Node& name = map.keys[i];
    const std::string key_path = path_of(path, name.text);
    if (name.kind != Node::Kind::word) {
      problems_.add(name.place, "a key cannot be " + std::string{kind_text(name)} + "; write a word, such as workers");
    } else if (const auto [first, is_new] = lines.emplace(name.text, name.place.line); !is_new) {
      problems_.add(name.place,
                    key_path + ": given twice, first in line " + std::to_string(first->second) + "; keep one");
    } else {
      visit(name, map.items[i], key_path);
    }
  }
}

}  // namespace easyretry::config
