#include "sim/ending.h"

#include <set>

namespace easyretry::sim {
namespace {

// The engine's own limit (attempt.h): a callback is tried this often.
constexpr int kCallbackTries = 16;

class Ending {
 public:
  Ending(const Evidence& evidence, const Stories& stories, const Broken& broken)
      : evidence_(evidence), stories_(stories), broken_(broken), max_crashes_(evidence.scenario.engine.max_crashes) {}

  void check() {
    std::set<TaskId> live, ended;
    for (const auto& record : evidence_.live) live.insert(record.info.id);
    for (const auto& record : evidence_.history) {
      if (!ended.insert(record.info.id).second) broken_("I7", record.info.id, "is in history twice");
      if (live.contains(record.info.id)) broken_("I7", record.info.id, "is in history and still to be done");
      check_record(record);
    }
    for (const auto& [id, s] : stories_) {
      if (!live.contains(id) && !ended.contains(id)) {
        broken_("I1", id, s.acked ? "was acknowledged and is gone" : "is gone");
      }
      if (!s.finished) {
        broken_("I1", id, "is not done, long after the last fault");
        continue;
      }
      if (!ended.contains(id)) broken_("I7", id, "has ended and is not in history");
      check_callbacks(id, s);
      check_quarantine(id, s);
    }
  }

 private:
  void check_record(const task::TaskRecord& record) {
    const auto found = stories_.find(record.info.id);
    if (found == stories_.end()) return broken_("I7", record.info.id, "is in history and was never stored");
    const Story& s = found->second;
    if (record.info.outcome != s.outcome) broken_("I4", record.info.id, "history has another outcome");
    if (record.info.deliveries != s.claims)
      broken_("I5", record.info.id, "deliveries in history are not the claims made");
    if (record.info.attempts > s.max_attempts) {
      broken_("I5", record.info.id, std::to_string(record.info.attempts) + " attempts counted");
    }
    if (record.info.crashes > s.lost) broken_("I5", record.info.id, "more crashes counted than leases were lost");
  }

  static int count(const std::map<Code, int>& calls, Code code) {
    const auto found = calls.find(code);
    return found == calls.end() ? 0 : found->second;
  }

  void check_callbacks(TaskId id, const Story& s) {
    const HandlerKind& handler = handler_kind(s.handler);
    const bool succeeded = s.outcome == Outcome::succeeded;
    const bool has_one = succeeded ? handler.on_success : handler.on_final_failure;
    const Code code = succeeded ? Code::on_success : Code::on_final_failure;
    const int called = count(s.called, code);
    const bool given_up = called >= kCallbackTries || s.lost >= 2 * max_crashes_;
    const bool untold = s.ended_by_user && !s.ended_by_user->tell;
    if (has_one && !untold && count(s.called_well, code) == 0 && !given_up) {
      broken_("I6", id, "ended as " + std::string{to_string(*s.outcome)} + " and nobody was told");
    }
    // If an execution was lost or overruled, its owner may have been notified of its end before.
    const bool overruled = s.lost > 0 || s.stale > 0 || s.ended_by_user.has_value();
    if (count(s.called, Code::on_success) > 0 && count(s.called, Code::on_final_failure) > 0 && !overruled) {
      broken_("I6", id, "was called a success and a failure");
    }
  }

  void check_quarantine(TaskId id, const Story& s) {
    const Plan::Kind kind = evidence_.plans.at(s.key).kind;
    const bool ended_otherwise = s.ended_by_user || s.outcome == Outcome::exhausted;
    if (kind == Plan::Kind::poison && s.outcome != Outcome::quarantined && !ended_otherwise) {
      broken_("I12", id, "poison ended as " + std::string{to_string(*s.outcome)});
    }
    // A user ends an execution without counting its death.
    const int most = 2 * max_crashes_ + s.unproven() + (s.ended_by_user ? 1 : 0);
    if (kind == Plan::Kind::deadly_callback && count(s.called, Code::on_final_failure) > most) {
      broken_("I12", id,
              "its deadly callback was called " + std::to_string(count(s.called, Code::on_final_failure)) + " times");
    }
    if (s.outcome == Outcome::quarantined) check_blame(id, s);
  }

  // An innocent task may have been running whenever its worker died: those are counted (coverage.cpp), but not held
  // against the engine.
  void check_blame(TaskId id, const Story& s) {
    const auto blamed = std::ranges::count_if(
        s.tenures, [](const auto& tenure) { return tenure.second.charged && tenure.second.was_running(); });
    if (blamed >= max_crashes_) return;
    broken_("I15", id, "quarantined, but it was running in " + std::to_string(blamed) + " of its crashes");
  }

  const Evidence& evidence_;
  const Stories& stories_;
  const Broken& broken_;
  const int max_crashes_;
};

}  // namespace

void check_ending(const Evidence& evidence, const Stories& stories, const Broken& broken) {
  Ending{evidence, stories, broken}.check();
}

}  // namespace easyretry::sim
