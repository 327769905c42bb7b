#include "config/node.h"

namespace easyretry::config {

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

}  // namespace easyretry::config
