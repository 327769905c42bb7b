#include "sim/coverage.h"

#include <set>

namespace easyretry::sim {
namespace {

class Counter {
 public:
  Counter(Coverage& coverage, const std::map<std::string, Plan>& plans) : coverage_(coverage), plans_(plans) {}

  void on(int instance, const Claimed& e) {
    add("claims");
    if (running_.contains(e.id)) {
      add(running_[e.id] == instance ? "leases lost to oneself" : "leases taken over");
      if (calm_) add("leases lost before, recovered in the calm");
    }
    running_[e.id] = instance;
  }
  void on(int, const Settled& e) {
    running_.erase(e.id);
    switch (e.kind) {
      case task::Settlement::Kind::finish:
        if (e.outcome == Outcome::quarantined && innocent(e.id)) add("quarantined, but innocent");
        return add("ended " + std::string{to_string(e.outcome)});
      case task::Settlement::Kind::retry: return add("retries");
      case task::Settlement::Kind::advance: return add("callbacks put off");
      case task::Settlement::Kind::hand_back: return add("handed back");
    }
  }
  void on(int, const Revised& e) { add(e.delay ? "retried by hand" : "rules revised"); }
  void on(int, const EndedByUser& e) {
    running_.erase(e.ending.id);
    const std::string outcome{to_string(e.ending.outcome)};
    add(e.ending.tell ? "to be told by a user: " + outcome : "ended " + outcome);
    if (e.ending.outcome != Outcome::cancelled) add("completed or failed by a user");
  }
  void on(int, const Inserted& e) {
    key_[e.id] = e.key;
    add("tasks");
  }
  void on(int, const Requeued& e) {
    key_[e.id] = key_[e.from];
    add("requeued");
  }
  void on(int, const Calm&) { calm_ = true; }
  void on(int, const Renewed&) { add("renewals"); }
  void on(int, const Refused& e) { add("refused: " + std::string{e.verb}); }
  void on(int, const Acked& e) { add(acked_.insert(e.id).second ? "acks" : "acks of a task that was there"); }
  void on(int, const Began& e) { add(e.code == Code::handler ? "executions" : "callbacks"); }
  void on(int, const Died& e) { add(e.how == Death::crashed ? "crashes" : "drains"); }
  void on(int, const Paused&) { add("pauses"); }
  void on(int, const HandlerPaused&) { add("handlers paused"); }
  void on(int, const Hit& e) {
    const bool death = e.fault == Fault::death_before || e.fault == Fault::death_after;
    add("fault: " + std::string{to_string(e.fault)} + (death ? " " + std::string{e.verb} : ""));
  }
  template <class Other>
  void on(int, const Other&) {}

 private:
  void add(const std::string& what) { ++coverage_[what]; }

  bool innocent(TaskId id) const {
    const Plan::Kind kind = plans_.at(key_.at(id)).kind;
    return kind != Plan::Kind::poison && kind != Plan::Kind::deadly_callback;
  }

  Coverage& coverage_;
  const std::map<std::string, Plan>& plans_;
  bool calm_ = false;
  std::map<TaskId, std::string> key_;
  std::map<TaskId, int> running_;
  std::set<TaskId> acked_;
};

// In a thousand runs: about a third of what was counted when this was written.
const Coverage kLeast{
    {"acks of a task that was there", 400},
    {"callbacks put off", 1'300},
    {"crashes", 1'000},
    {"drains", 200},
    {"ended cancelled", 400},
    {"ended exhausted", 1'700},
    {"ended quarantined", 250},
    {"ended succeeded", 5'000},
    {"fault: cut off from the store", 200},
    {"fault: death after claim", 20},
    {"fault: death after insert", 3},
    {"fault: death after settle", 20},
    {"fault: death before claim", 20},
    {"fault: death before settle", 20},
    {"fault: reply lost", 2'000},
    {"fault: request carried out late", 300},
    {"fault: request lost", 1'500},
    {"fault: slow call", 600},
    {"fault: store down", 150},
    {"fault: unavailable", 10'000},
    {"fault: views disagree", 500},
    {"handed back", 200},
    {"handlers paused", 550},
    {"leases lost before, recovered in the calm", 800},
    {"leases taken over", 1'000},
    {"pauses", 300},
    {"refused: settle", 800},
    {"renewals", 25'000},
    {"requeued", 130},
};

}  // namespace

void add_coverage(Coverage& coverage, const std::vector<Entry>& journal, const std::map<std::string, Plan>& plans) {
  Counter counter{coverage, plans};
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
