#pragma once
// A configuration as nodes that know where they were written, independent of the YAML library; and the problems found
// in it, collected so that the user can correct all of them at once.

#include <string>
#include <string_view>
#include <vector>

#include "base/part.h"

namespace easyretry::config {

// The source must outlive the place. Line 0: only the source is known, such as the name of a variable.
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
  std::string text{};         // word
  std::vector<Node> keys{};   // map; one for each item
  std::vector<Node> items{};  // map, list
};

std::string_view kind_text(const Node& node);  // "a list"

class Problems {
 public:
  void add(const Place& place, std::string_view what);
  bool none() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  void throw_if_any() const;  // ConfigError

 private:
  // With more problems than this, it is the wrong file; a megabyte of wrong keys must not make a larger message.
  static constexpr std::size_t kMost = 20;

  std::vector<std::string> lines_;
  std::size_t count_ = 0;
};

// In quotes, escaped and cut to a length that fits in a message.
std::string in_quotes(std::string_view text);

// Appends a key to a path of keys: "handlers" and "payment.pay" make handlers.payment.pay.
std::string path_of(const std::string& path, std::string_view key);

inline constexpr std::size_t kLargestFile = 1'048'576;  // in bytes; a thousand handlers take a tenth of it

// Parses the text. Returns `nothing` if it is empty, or if it is not YAML; then `problems` says why. Aliases are not
// followed, so there are never more nodes than characters. The source must outlive the node.
struct YamlPart {
  Node (*read)(std::string_view text, std::string_view source, Problems& problems);
};

extern "C" EASYRETRY_OPTIONAL const YamlPart* easyretry_yaml();

}  // namespace easyretry::config
