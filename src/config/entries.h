#pragma once
// Goes through the keys of a map, and says what is wrong with them.

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "config/keys.h"
#include "config/problems.h"

namespace easyretry::config {

template <class Owner>
const Key<Owner>* find(const std::vector<Key<Owner>>& keys, std::string_view name) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key<Owner>& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

template <class Owner>
std::vector<std::string_view> names_of(const std::vector<Key<Owner>>& keys) {
  std::vector<std::string_view> names;
  names.reserve(keys.size());
  for (const Key<Owner>& key : keys) names.push_back(key.name);
  return names;
}

// "unknown key, did you mean workers?", or the list of those that are known.
std::string unknown_key(std::string_view name, const std::vector<std::string_view>& known);

class Entries {
 public:
  using Visit = std::function<void(const Node& name, const Node& value, const std::string& path)>;

  explicit Entries(Problems& problems) : problems_(problems) {}

  // A group whose lines are all commented out is an empty one.
  void each(const Node& map, const std::string& path, const Visit& visit);

  // A key without a value is blamed where it is: the parser puts its missing value on the next line.
  template <class Owner>
  void read(const Key<Owner>& key, Owner& owner, const Node& name, const Node& value, const std::string& path) {
    try {
      key.read(owner, value);
    } catch (const std::invalid_argument& error) {
      const Place& place = value.kind == Node::Kind::nothing ? name.place : value.place;
      problems_.add(place, path + ": " + error.what());
    }
  }

  // All keys of a map that knows these and no others.
  template <class Owner>
  void read_all(const std::vector<Key<Owner>>& keys, Owner& owner, const Node& map, const std::string& path) {
    each(map, path, [&](const Node& name, const Node& value, const std::string& key_path) {
      if (const auto* key = find(keys, name.text)) return read(*key, owner, name, value, key_path);
      problems_.add(name.place, key_path + ": " + unknown_key(name.text, names_of(keys)));
    });
  }

  Problems& problems() { return problems_; }

 private:
  Problems& problems_;
};

}  // namespace easyretry::config
