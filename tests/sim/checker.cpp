#include "sim/checker.h"

#include <algorithm>
#include <utility>

#include "engine/pauses.h"
#include "sim/ending.h"
#include "sim/hindrances.h"
#include "sim/limited.h"
#include "sim/story.h"
#include "task/task_id.h"

namespace easyretry::sim {
namespace {

using namespace std::chrono_literals;
using Kind = task::Settlement::Kind;

// How long an instance may use the list of pauses it has read, and half a second for clock drift and a claim in flight.
constexpr Millis kPauseIsHeeded = std::chrono::duration_cast<Millis>(engine::kPausesKnownFor) + 500ms;

class Checker {
 public:
  explicit Checker(const Evidence& evidence) : evidence_(evidence), options_(evidence.scenario.engine) {}

  std::vector<Violation> judge() {
    for (const Entry& entry : evidence_.journal) {
      now_ = entry.at;
      who_ = entry.instance;
      std::visit([this](const auto& what) { on(what); }, entry.what);
    }
    check_ending(evidence_, stories_, [this](std::string invariant, TaskId id, std::string what) {
      broken(std::move(invariant), id, std::move(what));
    });
    return std::move(violations_);
  }

 private:
  void broken(std::string invariant, TaskId id, std::string what) {
    violations_.push_back({std::move(invariant), now_, id, std::move(what)});
  }

  static std::string v(std::int64_t version) { return "v" + std::to_string(version); }

  Story* story(TaskId id) {
    const auto found = stories_.find(id);
    if (found != stories_.end()) return &found->second;
    broken("I1", id, "the store changed a task that was never stored");
    return nullptr;
  }

  // ---- changes in the store

  void begin_story(TaskId id, Story fresh) {
    const auto [there, free] = live_keys_.try_emplace(fresh.key, id);
    if (!free) broken("I14", id, "key " + fresh.key + " is live as " + to_string(there->second) + " already");
    if (!stories_.try_emplace(id, std::move(fresh)).second) broken("I3", id, "the id was given twice");
  }

  void on(const Inserted& e) {
    begin_story(
        e.id, {.key = e.key, .handler = e.handler, .max_attempts = e.max_attempts, .version = e.version, .due = e.due});
  }

  void on(const Requeued& e) {
    Story* from = story(e.from);
    if (from == nullptr) return;
    if (!from->finished) broken("I4", e.from, "a task that had not ended was requeued");
    if (std::exchange(from->requeued, true)) broken("I4", e.from, "a task was requeued twice");
    begin_story(e.id, {.key = from->key, .handler = from->handler, .max_attempts = from->max_attempts, .due = now_});
  }

  // A write was accepted: its sender must be the one that may write, according to the journal.
  bool accepted(Story& s, TaskId id, std::int64_t version, const char* verb) {
    if (s.finished) {
      broken("I4", id, std::string{"a "} + verb + " was accepted after the task had ended");
      return false;
    }
    if (version != s.version) {
      broken("I3", id,
             std::string{"a "} + verb + " with " + v(version) + " was accepted, " + v(s.version) + " is current");
    }
    return true;
  }

  void on(const Claimed& e) {
    Story* s = story(e.id);
    if (s == nullptr || !accepted(*s, e.id, e.ticket, "claim")) return;
    if (e.version <= s->version) broken("I3", e.id, "the fence went from " + v(s->version) + " to " + v(e.version));
    if (now_ < s->due) broken("I8", e.id, "claimed before it was due");
    if (e.deliveries != ++s->claims) {
      broken("I5", e.id, "delivery " + std::to_string(e.deliveries) + " of " + std::to_string(s->claims) + " claims");
    }
    check_recovery(*s, e.id);
    check_paused_handlers_are_left_alone(*s, e.id);
    if (s->running && s->tenure()->until <= now_) {
      ++s->lost;
      Tenure& lost = s->tenures[s->version];
      lost.charged = e.crashes > s->crashes;
      lost.unheard = hindrances_.late_call(lost.holder, lost.granted) ||
                     hindrances_.paused(lost.holder, lost.granted) ||
                     hindrances_.kept_from_claiming(lost.holder, lost.granted);
      check_lease_was_cared_for(*s, e.id);
      check_delivery_arrived(*s, e.id);
    }
    s->crashes = e.crashes;
    s->running = true;
    s->version = e.version;
    s->tenures[e.version] = {.holder = who_, .granted = now_, .until = e.lease_until, .due = s->due};
  }

  void on(const HandlerPaused& e) { paused_handlers_[e.handler] = now_; }
  void on(const HandlerResumed& e) { paused_handlers_.erase(e.handler); }

  // An instance that could not ask uses the last list it has read.
  void check_paused_handlers_are_left_alone(const Story& s, TaskId id) {
    const auto paused = paused_handlers_.find(s.handler);
    if (paused == paused_handlers_.end() || now_ <= paused->second + kPauseIsHeeded) return;
    if (hindrances_.paused(who_, paused->second) || hindrances_.kept_from_claiming(who_, paused->second) ||
        hindrances_.late_call(who_, paused->second)) {
      return;
    }
    broken("I13", id,
           "claimed " + std::to_string((now_ - paused->second).count()) + " ms after " + s.handler + " was paused");
  }

  void on(const RenewTried& e) {
    const auto found = stories_.find(e.id);
    if (found == stories_.end()) return;
    const auto tenure = found->second.tenures.find(e.version);
    if (tenure != found->second.tenures.end()) tenure->second.renew_tried = now_;
  }

  void on(const Renewed& e) {
    Story* s = story(e.id);
    if (s == nullptr || !accepted(*s, e.id, e.version, "renewal")) return;
    Tenure& tenure = s->tenures[e.version];
    tenure.granted = now_;
    tenure.until = e.lease_until;
  }

  void on(const Settled& e) {
    Story* s = story(e.id);
    if (s == nullptr || !accepted(*s, e.id, e.version, "settlement")) return;
    Tenure& tenure = s->tenures[e.version];
    tenure.released = true;
    s->running = false;
    ++s->version;
    switch (e.kind) {
      case Kind::finish: check_success_is_true(*s, e, tenure); return finish(*s, e.outcome);
      case Kind::retry:
      case Kind::advance: s->due = now_ + e.delay; return;
      case Kind::hand_back:
        if (tenure.ran) ++s->handed_back;
        return;
    }
  }

  void on(const Revised& e) {
    Story* s = story(e.id);
    if (s == nullptr || !accepted(*s, e.id, e.version, "revision")) return;
    if (s->running) broken("I2", e.id, "revised while " + v(s->version) + " is held");
    ++s->version;
    if (e.delay) s->due = now_ + *e.delay;
  }

  void on(const EndedByUser& e) {
    const TaskId id = e.ending.id;
    Story* s = story(id);
    if (s == nullptr || !accepted(*s, id, s->version, "end")) return;
    if (s->running) s->tenures[s->version].released = true;
    s->running = false;
    s->ended_by_user = e.ending;
    ++s->version;
    if (!e.ending.tell) return finish(*s, e.ending.outcome);
    s->due = now_;
  }

  void on(const EndAnswered& e) {
    if (Story* s = story(e.id)) s->end_answered = now_;
  }

  // A process that was stopped between its last look and the beginning cannot know.
  void check_was_not_ended(const Story& s, TaskId id, const Tenure& tenure) {
    if (!s.end_answered || *s.end_answered >= now_ || hindrances_.paused(who_, tenure.granted)) return;
    broken("I16", id,
           "begins " + std::to_string((now_ - *s.end_answered).count()) + " ms after it was said to be ended");
  }

  void finish(Story& s, Outcome outcome) {
    s.finished = true;
    s.outcome = outcome;
    live_keys_.erase(s.key);
  }

  void check_success_is_true(const Story& s, const Settled& e, const Tenure& tenure) {
    if (e.outcome != Outcome::succeeded || tenure.ran_well) return;
    if (s.ended_by_user && s.ended_by_user->outcome == Outcome::succeeded) return;
    const bool earlier = std::any_of(s.tenures.begin(), s.tenures.end(),
                                     [](const auto& other) { return other.second.ran_well && other.second.released; });
    if (!earlier) broken("I4", e.id, "ended as succeeded, but no accepted execution has succeeded");
  }

  void on(const Refused& e) {
    const auto found = stories_.find(e.id);
    if (found != stories_.end() && e.verb == "settle") ++found->second.stale;
  }

  void on(const Acked& e) {
    Story* s = story(e.id);
    if (s == nullptr) return;
    s->acked = true;
    if (s->key != e.key) broken("I14", e.id, "key " + e.key + " was answered with the task of key " + s->key);
  }

  // ---- user code

  void on(const Began& e) {
    Story* s = story(e.id);
    if (s == nullptr) return;
    const auto tenure = s->tenures.find(e.version);
    if (tenure == s->tenures.end()) return broken("I3", e.id, "runs with " + v(e.version) + ", which nobody was given");
    for (const Execution& other : s->executing) check_overlap(*s, e, other);
    check_limit(*s, e);
    s->executing.push_back({who_, e.version, e.code, now_});
    ++s->called[e.code];
    tenure->second.begun = true;
    if (e.code == Code::handler) begin_run(*s, e, tenure->second);
  }

  void check_overlap(const Story& s, const Began& e, const Execution& other) {
    if (other.version == e.version) return broken("I2", e.id, "two executions of " + v(e.version) + " at a time");
    if (!s.tenures.at(other.version).holds(now_)) return;
    broken("I2", e.id,
           v(e.version) + " begins on i" + std::to_string(who_) + " while " + v(other.version) + " runs on i" +
               std::to_string(other.instance) + " with a valid lease");
  }

  void check_limit(const Story& s, const Began& e) {
    const int limit = handler_kind(s.handler).running;
    if (limit == 0 || !certainly_holds(s.tenures.at(e.version), now_, hindrances_)) return;
    const int running = 1 + running_for_certain(stories_, s.handler, now_, hindrances_);
    if (running <= limit) return;
    broken("I17", e.id, std::to_string(running) + " tasks of " + s.handler + " run, " + std::to_string(limit) + " may");
  }

  void begin_run(Story& s, const Began& e, Tenure& tenure) {
    if (tenure.ran) broken("I2", e.id, "the handler runs twice for " + v(e.version));
    check_was_not_ended(s, e.id, tenure);
    tenure.ran = true;
    ++s.runs;
    if (!tenure.released && tenure.until <= now_) broken("I2", e.id, "begins after its lease has run out");
    if (now_ < tenure.due) broken("I8", e.id, "runs before it is due");
    if (e.counted + s.handed_back + s.unproven() < s.runs) {
      broken("I5", e.id,
             "execution " + std::to_string(s.runs) + " begins, but only " + std::to_string(e.counted) +
                 " attempts and crashes are counted");
    }
    if (s.runs > s.max_attempts + s.lost + s.handed_back) {
      broken("I5", e.id,
             std::to_string(s.runs) + " executions with max_attempts = " + std::to_string(s.max_attempts) + " and " +
                 std::to_string(s.lost) + " lost leases");
    }
    if (plan(s).kind == Plan::Kind::poison && s.runs > options_.max_crashes + s.unproven()) {
      broken("I12", e.id,
             "poison is run for the " + std::to_string(s.runs) + ". time, max_crashes = " +
                 std::to_string(options_.max_crashes) + ", " + std::to_string(s.unproven()) + " unproven");
    }
  }

  void on(const Ended& e) {
    Story* s = story(e.id);
    if (s == nullptr) return;
    std::erase_if(s->executing,
                  [&](const Execution& x) { return x.instance == who_ && x.version == e.version && x.code == e.code; });
    s->tenures[e.version].ended = now_;
    if (e.verdict == Verdict::well) {
      ++s->called_well[e.code];
      if (e.code == Code::handler) s->tenures[e.version].ran_well = true;
    }
    note_old_work_done();
  }

  const Plan& plan(const Story& s) const { return evidence_.plans.at(s.key); }

  // ---- processes

  void on(const Born&) {
    if (settled_down_) settled_down_ = now_;
  }

  void on(const Died& e) {
    for (auto& [id, s] : stories_) {
      std::erase_if(s.executing, [&](const Execution& x) { return x.instance == who_; });
      if (s.running && s.tenure()->holder == who_ && !s.tenure()->died) s.tenures[s.version].died = now_;
    }
    hindrances_.note(who_, now_, e);
    note_old_work_done();
  }

  void on(const Paused& e) { hindrances_.note(who_, now_, e); }

  void on(const Hit& e) { hindrances_.note(who_, now_, e); }

  void on(const Wrong& e) { broken(e.invariant, TaskId{}, "i" + std::to_string(who_) + ": " + e.what); }

  void on(const Calm&) {
    calm_ = now_;
    note_old_work_done();
  }

  // ---- recovery

  // Attempts that began before the calm may occupy a worker for a while; promises about time count from their end.
  void note_old_work_done() {
    if (!calm_ || settled_down_) return;
    for (const auto& [id, s] : stories_) {
      if (std::any_of(s.executing.begin(), s.executing.end(), [&](const Execution& x) { return x.since < *calm_; }))
        return;
    }
    settled_down_ = now_;
  }

  // One window per scan, as many as it takes to read everything that is due before; and 5 s for what was in progress
  // when the calm began: pauses after failed calls, queues, restarts.
  Millis patience(TaskId id) const {
    const auto fillings = static_cast<Millis::rep>(1 + stories_.size() / options_.read_ahead);
    // Once in a `grace`, every instance looks for tasks that are overdue by that time.
    const bool forgotten = static_cast<int>(task::shard_of(id)) == evidence_.scenario.forgotten_shard;
    const bool limited = handler_kind(stories_.at(id).handler).running > 0;
    return fillings * options_.window + 5s + (forgotten ? 2 * options_.grace : 0s) +
           (limited ? 3 * options_.lease : 0s);
  }

  void check_recovery(const Story& s, TaskId id) {
    if (!settled_down_) return;
    const TimePoint since = std::max(s.claimable_since(), *settled_down_);
    if (now_ <= since + patience(id)) return;
    broken("I9", id,
           "could have been claimed " + std::to_string((now_ - since).count()) + " ms ago; " +
               std::to_string(patience(id).count()) + " ms are allowed");
  }

  // A lease may run out on a process that dies, is stopped or cannot reach the store. One that runs well must at least
  // have tried to keep it.
  void check_lease_was_cared_for(const Story& s, TaskId id) {
    const Tenure& lost = *s.tenure();
    const auto run = std::find_if(s.executing.begin(), s.executing.end(), [&](const Execution& x) {
      return x.version == s.version && x.instance == lost.holder;
    });
    if (run == s.executing.end()) return;
    const TimePoint from = std::max(lost.granted, run->since);
    if (lost.until - from < options_.lease * 7 / 10) return;
    if (hindrances_.paused(lost.holder, from) || hindrances_.kept_from_renewing(lost.holder, from)) return;
    if (handler_kind(s.handler).running > 0 && hindrances_.kept_waiting(lost.holder, from)) return;
    if (handler_kind(s.handler).timeout > 0ms) return;  // it is considered hung, and its lease is given up on purpose
    if (lost.renew_tried && *lost.renew_tried >= from) return;
    broken("I2", id,
           "the lease of " + v(s.version) + " ran out on i" + std::to_string(lost.holder) +
               ", which runs it and never tried to renew it");
  }

  // A live process that won a task must run, renew and settle it if the store answers for half a lease. Otherwise a
  // crash is counted that never happened.
  void check_delivery_arrived(const Story& s, TaskId id) {
    const Tenure& lost = *s.tenure();
    const int holder = lost.holder;
    const bool well = !hindrances_.died(holder, lost.granted) && !hindrances_.paused(holder, lost.granted) &&
                      !hindrances_.kept_waiting(holder, lost.until - options_.lease / 2) &&
                      !hindrances_.late_call(holder, lost.granted);
    const bool ran_on =
        (lost.ended && *lost.ended > lost.until) ||
        std::any_of(s.executing.begin(), s.executing.end(), [&](const Execution& x) { return x.version == s.version; });
    if (!well || ran_on || (lost.renew_tried && *lost.renew_tried >= lost.granted)) return;
    broken("I5", id,
           "the lease of " + v(s.version) + " ran out on i" + std::to_string(holder) + ", which was given it and " +
               (lost.begun ? "never settled it" : "never ran it"));
  }

  const Evidence& evidence_;
  const EngineOptions& options_;
  std::vector<Violation> violations_;

  TimePoint now_{};
  int who_ = -1;
  std::map<TaskId, Story> stories_;
  std::map<std::string, TaskId> live_keys_;
  std::map<std::string, TimePoint> paused_handlers_;  // since when
  Hindrances hindrances_;
  std::optional<TimePoint> calm_;          // when the last fault was over
  std::optional<TimePoint> settled_down_;  // since when everything runs as it should
};

}  // namespace

std::vector<Violation> check(const Evidence& evidence) {
  return Checker{evidence}.judge();
}

}  // namespace easyretry::sim
