#include "engine/spans.h"

#include <algorithm>
#include <cmath>

#include "base/traceparent.h"
#include "task/task_key.h"

namespace easyretry::engine {
namespace {

constexpr int kHexDigits = 16;

// Never all zeros, which would be an invalid id.
std::string derived_id(std::string_view what, std::string_view of) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::uint64_t rest = std::max<std::uint64_t>(1, task::stable_hash(std::string{what}.append("\n").append(of)));
  std::string id(kHexDigits, '0');
  for (auto digit = id.rbegin(); digit != id.rend(); ++digit, rest >>= 4) *digit = kHex[rest & 15];
  return id;
}

// The key tells apart equal ids of two stores.
std::string identity_of(const TaskInfo& task) {
  return task.name_space + "\n" + to_string(task.id) + "\n" + task.key;
}

// As OpenTelemetry's TraceIdRatioBased: by the last 63 bits of the trace id.
bool chosen(std::string_view trace, double ratio) {
  if (ratio >= 1) return true;
  const std::uint64_t bits = std::stoull(std::string{trace.substr(kHexDigits)}, nullptr, 16) >> 1;
  return static_cast<double>(bits) < std::ldexp(ratio, 63);
}

}  // namespace

TaskTrace::TaskTrace(const TaskInfo& task, const Sampling& sampling) : task_(identity_of(task)) {
  const auto given = base::read_traceparent(task.traceparent);
  trace_ = given ? std::string{given->trace} : derived_id("trace", task_) + derived_id("more of the trace", task_);
  sampled_ = given && sampling.follows_submitter ? given->sampled : chosen(trace_, sampling.ratio);
}

std::string TaskTrace::traceparent(std::string_view span) const {
  return std::string{"00-"}.append(trace_).append("-").append(span).append(sampled_ ? "-01" : "-00");
}

std::string TaskTrace::id(std::string_view what) const {
  return derived_id(what, task_);
}

void Spans::add(SpanListener listener) {
  const std::lock_guard lock{mutex_};
  auto next = std::make_shared<Listeners>(*listeners_);
  next->push_back(std::move(listener));
  listeners_ = std::move(next);
  heard_ = true;
}

void Spans::mark_attempt(TaskInfo& claimed) const {
  if (!heard()) return;
  const TaskTrace trace = trace_of(claimed);
  claimed.traceparent = trace.traceparent(trace.attempt(claimed.attempts));
}

void Spans::tell(const Span& span) const {
  std::shared_ptr<const Listeners> listeners;
  {
    const std::lock_guard lock{mutex_};
    listeners = listeners_;
  }
  for (const SpanListener& listener : *listeners) {
    try {
      listener(span);
    } catch (...) {
      Counters::add(counters_.listener_failures);
    }
  }
}

}  // namespace easyretry::engine
