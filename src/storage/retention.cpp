#include "storage/retention.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace easyretry::storage {
namespace {

// A transaction writes the time at which it began as the end of its tasks, and commits up to this much later. A walk
// that overtook it would miss its tasks.
constexpr Millis kCommitsWithin = std::chrono::seconds{30};

class Walks {
 public:
  explicit Walks(TimePoint now) : now_(now) {}

  void add(const Retention& rule, Expiry what, Millis keep, TimePoint from) {
    const TimePoint until = now_ - std::max(keep, kCommitsWithin);
    if (from >= until) return;
    Walk& walk = walks_[{rule.name_space, what, from, until}];
    if (walk.handlers.empty()) walk = {rule.name_space, {}, what, from, until};
    walk.handlers.push_back(rule.handler);
  }

  std::vector<Walk> take() {
    std::vector<Walk> all;
    for (auto& [place, walk] : walks_) {
      std::ranges::sort(walk.handlers);  // so that all instances lock their marks in the same order
      all.push_back(std::move(walk));
    }
    return all;
  }

 private:
  const TimePoint now_;
  std::map<std::tuple<std::string, Expiry, TimePoint, TimePoint>, Walk> walks_;
};

}  // namespace

std::vector<Walk> walks(std::span<const Retention> rules, const RetentionMarks& marks, TimePoint now) {
  Walks all{now};
  for (const Retention& rule : rules) {
    const auto mark = marks.find({rule.name_space, rule.handler});
    const SweptUntil swept = mark == marks.end() ? SweptUntil{} : mark->second;
    if (rule.keep) all.add(rule, Expiry::tasks, *rule.keep, swept.tasks);
    // Arguments that are removed with their tasks need no separate walk.
    if (rule.keep_args && (!rule.keep || *rule.keep_args < *rule.keep)) {
      all.add(rule, Expiry::arguments, *rule.keep_args, std::max(swept.arguments, swept.tasks));
    }
  }
  return all.take();
}

}  // namespace easyretry::storage
