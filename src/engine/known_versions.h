#pragma once
// Task ids, each with the newest version that anybody has seen: flat arrays, no allocation per id, a few nanoseconds an
// operation. Grows and never shrinks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <easyretry/task.h>

namespace easyretry::engine {

class KnownVersions {
 public:
  // False: the id is here already.
  bool insert(TaskId id, std::uint32_t version) {
    if ((size_ + 1) * 2 > ids_.size()) grow();
    const std::size_t at = place_of(id);
    if (ids_[at] == id) {
      versions_[at] = std::max(versions_[at], version);
      return false;
    }
    put(at, id, version);
    ++size_;
    return true;
  }

  bool contains(TaskId id) const { return size_ > 0 && ids_[place_of(id)] == id; }
  // Of an id that is here.
  std::uint32_t newest(TaskId id) const { return versions_[place_of(id)]; }

  void erase(TaskId id) {
    if (size_ == 0) return;
    std::size_t hole = place_of(id);
    if (ids_[hole] != id) return;
    // Those behind it that would not be found past the hole move up.
    for (std::size_t at = next(hole); ids_[at] != kNone; at = next(at)) {
      const std::size_t way = (at - home(ids_[at])) & mask();
      if (way < ((at - hole) & mask())) continue;
      put(hole, ids_[at], versions_[at]);
      hole = at;
    }
    ids_[hole] = kNone;
    --size_;
  }

  std::size_t size() const { return size_; }

 private:
  static constexpr TaskId kNone{std::numeric_limits<std::int64_t>::min()};  // nobody's id
  static constexpr std::size_t kFewest = 64;

  std::size_t mask() const { return ids_.size() - 1; }
  std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
  // Ids of one moment differ in their lowest bits, those of one shard in the upper ones: the product mixes both.
  std::size_t home(TaskId id) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(id) * 0x9E3779B97F4A7C15U) >> 20U) & mask();
  }
  // Where it is, or where it would go.
  std::size_t place_of(TaskId id) const {
    std::size_t at = home(id);
    while (ids_[at] != kNone && ids_[at] != id) at = next(at);
    return at;
  }
  void put(std::size_t at, TaskId id, std::uint32_t version) {
    ids_[at] = id;
    versions_[at] = version;
  }

  void grow() {
    const std::size_t size = ids_.empty() ? kFewest : 2 * ids_.size();
    std::vector<TaskId> ids(size, kNone);
    std::vector<std::uint32_t> versions(size);
    ids.swap(ids_);
    versions.swap(versions_);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] != kNone) put(place_of(ids[i]), ids[i], versions[i]);
    }
  }

  std::vector<TaskId> ids_;  // a power of two of them, at most half in use
  std::vector<std::uint32_t> versions_;
  std::size_t size_ = 0;
};

}  // namespace easyretry::engine
