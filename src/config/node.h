#pragma once
// A piece of configuration and where it was written, free of the library that read it.

#include <string>
#include <string_view>
#include <vector>

namespace easyretry::config {

// The source must outlive the place. Line 0: the source is all there is to say, such as a variable's name.
struct Place {
  std::string_view source;
  int line = 0;
  int column = 0;
};

std::string to_text(const Place& place);  // "easyretry.yaml:3:1"

struct Node {
  enum class Kind { nothing, word, list, map, alias };

  Kind kind = Kind::nothing;
  Place place{};
  std::string text{};         // of a word
  std::vector<Node> keys{};   // of a map, one for each item
  std::vector<Node> items{};  // of a map or a list
};

std::string_view kind_text(const Node& node);  // "a list"

}  // namespace easyretry::config
