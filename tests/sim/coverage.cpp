#include "sim/coverage.h"

#include <set>

namespace easyretry::sim {
namespace {

class Counter {
 public:
  explicit Counter(Coverage& coverage) : coverage_(coverage) {}

  void on(int instance, const Claimed& e) {
    add("claims");
    if (running_.contains(e.id)) add(running_[e.id] == instance ? "leases lost to oneself" : "leases taken over");
    running_[e.id] = instance;
  }
  void on(int, const Settled& e) {
    running_.erase(e.id);
    switch (e.kind) {
      case task::Settlement::Kind::finish: return add("ended " + std::string{to_string(e.outcome)});
      case task::Settlement::Kind::retry: return add("retries");
      case task::Settlement::Kind::advance: return add("callbacks put off");
      case task::Settlement::Kind::hand_back: return add("handed back");
    }
  }
  void on(int, const Cancelled& e) {
    running_.erase(e.id);
    add(e.how == storage::Cancel::end ? "ended CANCELLED" : "cancelled, to be told");
  }
  void on(int, const Inserted&) { add("tasks"); }
  void on(int, const Requeued&) { add("requeued"); }
  void on(int, const Renewed&) { add("renewals"); }
  void on(int, const Refused& e) { add("refused: " + std::string{e.verb}); }
  void on(int, const Acked& e) { add(acked_.insert(e.id).second ? "acks" : "acks of a task that was there"); }
  void on(int, const Began& e) { add(e.code == Code::handler ? "executions" : "callbacks"); }
  void on(int, const Died& e) { add(e.how == Death::crashed ? "crashes" : "drains"); }
  void on(int, const Paused&) { add("pauses"); }
  void on(int, const Hit& e) { add("fault: " + std::string{to_string(e.fault)}); }
  template <class Other>
  void on(int, const Other&) {}

 private:
  void add(const std::string& what) { ++coverage_[what]; }

  Coverage& coverage_;
  std::map<TaskId, int> running_;
  std::set<TaskId> acked_;
};

// In a thousand runs; about a third of what was counted when this was written.
const Coverage kLeast{};

}  // namespace

void add_coverage(Coverage& coverage, const std::vector<Entry>& journal) {
  Counter counter{coverage};
  for (const Entry& entry : journal) {
    std::visit([&](const auto& what) { counter.on(entry.instance, what); }, entry.what);
  }
}

std::string missing_coverage(const Coverage& coverage, std::uint64_t runs) {
  std::string missing;
  for (const auto& [what, least] : kLeast) {
    const auto found = coverage.find(what);
    const std::uint64_t seen = found == coverage.end() ? 0 : found->second;
    if (seen * 1000 < least * runs) missing += "\n  " + what + ": " + std::to_string(seen);
  }
  return missing;
}

}  // namespace easyretry::sim
