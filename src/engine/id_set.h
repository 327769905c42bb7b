#pragma once
// A set of task ids: one flat array, no allocation per id, a few nanoseconds an operation. Grows and never shrinks.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <easyretry/task.h>

namespace easyretry::engine {

class IdSet {
 public:
  // False: it is here already.
  bool insert(TaskId id) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    const std::size_t at = place_of(id);
    if (slots_[at] == id) return false;
    slots_[at] = id;
    ++size_;
    return true;
  }

  bool contains(TaskId id) const { return size_ > 0 && slots_[place_of(id)] == id; }

  void erase(TaskId id) {
    if (size_ == 0) return;
    std::size_t hole = place_of(id);
    if (slots_[hole] != id) return;
    // Those behind it that would not be found past the hole move up.
    for (std::size_t at = next(hole); slots_[at] != kNone; at = next(at)) {
      const std::size_t way = (at - home(slots_[at])) & mask();
      if (way < ((at - hole) & mask())) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = kNone;
    --size_;
  }

  std::size_t size() const { return size_; }

 private:
  static constexpr TaskId kNone{std::numeric_limits<std::int64_t>::min()};  // nobody's id
  static constexpr std::size_t kFewest = 64;

  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
  // Ids of one moment differ in their lowest bits, those of one shard in the upper ones: the product mixes both.
  std::size_t home(TaskId id) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(id) * 0x9E3779B97F4A7C15U) >> 20U) & mask();
  }
  // Where it is, or where it would go.
  std::size_t place_of(TaskId id) const {
    std::size_t at = home(id);
    while (slots_[at] != kNone && slots_[at] != id) at = next(at);
    return at;
  }

  void grow() {
    std::vector<TaskId> before(slots_.empty() ? kFewest : 2 * slots_.size(), kNone);
    before.swap(slots_);
    for (const TaskId id : before) {
      if (id != kNone) slots_[place_of(id)] = id;
    }
  }

  std::vector<TaskId> slots_;  // a power of two of them, at most half in use
  std::size_t size_ = 0;
};

}  // namespace easyretry::engine
