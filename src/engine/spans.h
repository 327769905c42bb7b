#pragma once
// Traces of tasks: the ids of their spans, the choice of recorded traces, the listeners. Thread-safe. Costs one atomic
// load without listeners.
//
// The ids are derived from the task, so every instance knows them, and nothing is stored:
//
//   the submitter's span ──► submit ──┬─► attempt 1 ──► webhook
//                                     └─► attempt 2 ──► webhook      attempt 2 is linked to attempt 1
//
// A task without a traceparent is a trace of its own.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/event.h>

#include "engine/measures.h"

namespace easyretry::engine {

// Selects the traces that are recorded.
struct Sampling {
  bool follows_submitter = true;  // if the submitter has a trace, its decision counts
  double ratio = 1;  // otherwise this share of the traces, chosen by their ids: every instance chooses the same
};

// The ids of one task's spans.
class TaskTrace {
 public:
  TaskTrace(const TaskInfo& task, const Sampling& sampling);

  bool sampled() const { return sampled_; }
  // For a span of this trace.
  std::string traceparent(std::string_view span) const;
  // Span ids
  std::string submit() const { return id("submit"); }
  std::string attempt(int number) const { return id("attempt " + std::to_string(number)); }
  std::string webhook(int number) const { return id("webhook " + std::to_string(number)); }
  // An attempt that does not count: another one has, or will have, its number.
  std::string uncounted(std::int64_t version) const { return id("uncounted " + std::to_string(version)); }

 private:
  std::string id(std::string_view what) const;

  std::string task_;   // its identity
  std::string trace_;  // 32 digits
  bool sampled_;
};

class Spans {
 public:
  explicit Spans(Counters& counters) : counters_(counters) {}

  void add(SpanListener listener);
  // Before the engine starts.
  void sample(const Sampling& sampling) { sampling_ = sampling; }

  bool heard() const { return heard_.load(std::memory_order_relaxed); }
  TaskTrace trace_of(const TaskInfo& task) const { return {task, sampling_}; }
  // Gives a claimed task the traceparent of its attempt, if there are listeners: for its handler, webhook or worker.
  void mark_attempt(TaskInfo& claimed) const;
  void tell(const Span& span) const;

 private:
  using Listeners = std::vector<SpanListener>;

  Counters& counters_;
  Sampling sampling_{};
  std::atomic<bool> heard_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const Listeners> listeners_ =
      std::make_shared<Listeners>();  // guarded by mutex_; the list itself never changes
};

}  // namespace easyretry::engine
