#pragma once
// Connections whose other end has not shown who it is, in the order in which they were last heard of: opened, or
// answered. A request that drips in does not count as being heard of. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>

namespace easyretry::http {

class Strangers {
 public:
  // A new one, or one that was just answered.
  void heard_of(std::uint64_t connection) {
    forget(connection);
    places_[connection] = order_.insert(order_.end(), connection);
  }
  // It is known now, or gone.
  void forget(std::uint64_t connection) {
    const auto found = places_.find(connection);
    if (found == places_.end()) return;
    order_.erase(found->second);
    places_.erase(found);
  }
  // Whoever has been silent for longest is a stranger no more, but somebody to be cut off.
  std::optional<std::uint64_t> take_longest_silent() {
    if (order_.empty()) return std::nullopt;
    const std::uint64_t first = order_.front();
    forget(first);
    return first;
  }
  std::size_t count() const { return places_.size(); }

 private:
  std::list<std::uint64_t> order_;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places_;
};

}  // namespace easyretry::http
