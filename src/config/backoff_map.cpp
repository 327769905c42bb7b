#include <stdexcept>

#include "config/problems.h"
#include "config/values.h"
#include "policy/decide.h"

namespace easyretry::config {
namespace {

constexpr std::string_view kForm = "a line such as exponential first=1s cap=15m, or {kind: exponential, first: 1s}";

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(what + "; write " + std::string{kForm});
}

// A space would begin another field of the line that is made of these.
const std::string& field_word(const Node& node) {
  const std::string& text = read_word(node, kForm);
  if (text.empty() || text.find_first_of(" ,=") != std::string::npos)
    refuse(in_quotes(text) + " is not a field's value");
  return text;
}

std::string field_text(const Node& value) {
  if (value.kind != Node::Kind::list) return field_word(value);
  std::string text;
  for (const Node& item : value.items) text.append(text.empty() ? "" : ",").append(field_word(item));
  return text;
}

// The line that says the same, so that there is one language and one set of rules.
std::string line_of(const Node& map) {
  std::string kind;
  std::string fields;
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    const std::string& name = field_word(map.keys[i]);
    if (name == "kind") {
      if (!kind.empty()) refuse("kind is given twice");
      kind = field_word(map.items[i]);
    } else {
      fields += " " + name + "=" + field_text(map.items[i]);
    }
  }
  if (kind.empty()) refuse("kind is missing");
  return kind + fields;
}

}  // namespace

Backoff read_backoff(const Node& node) {
  if (node.kind == Node::Kind::map) return policy::parse_backoff(line_of(node));
  return policy::parse_backoff(read_word(node, kForm));
}

}  // namespace easyretry::config
