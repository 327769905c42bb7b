#include "conformance/record_text.h"

#include <concepts>
#include <optional>
#include <sstream>
#include <string_view>
#include <type_traits>

namespace easyretry::test {
namespace {

class Lines {
 public:
  template <class T>
  Lines& add(std::string_view name, const T& value) {
    out_ << name << ": ";
    put(value);
    out_ << '\n';
    return *this;
  }
  std::string str() const { return out_.str(); }

 private:
  void put(TimePoint at) { out_ << at.time_since_epoch().count(); }
  void put(Millis duration) { out_ << duration.count(); }
  void put(const std::string& text) { out_ << '"' << text << "\" (" << text.size() << ')'; }
  void put(std::integral auto number) { out_ << number; }
  void put(std::string_view name) { out_ << name; }
  template <class E>
  requires std::is_enum_v<E>
  void put(E value) {
    if constexpr (requires { task::stored_name(value); }) {
      out_ << task::stored_name(value);  // in capitals, as in the texts that tests/data keeps
    } else {
      out_ << to_string(value);
    }
  }
  template <class T>
  void put(const std::optional<T>& value) {
    if (value) put(*value);
  }

  std::ostringstream out_;
};

void add_attempt(Lines& lines, const PastAttempt& attempt) {
  const auto& [number, began_at, ended_at, end, by, error] = attempt;
  lines.add("attempt", number).add("  began_at", began_at).add("  ended_at", ended_at).add("  end", end);
  lines.add("  by", by).add("  error", error);
}

// Structured bindings, so that a new field does not compile until it is compared.
void add_info(Lines& lines, const TaskInfo& task) {
  const auto& [id, name_space, key, handler, business_type, business_id, tags, traceparent, task_class, state, stage,
               outcome, attempts, crashes, deliveries, generation, version, created_at, next_at, finished_at,
               first_failed_at, last_failed_at, last_error, progress, no_handler, requeued_as, last_attempts] = task;
  lines.add("id", id).add("space", name_space).add("key", key).add("handler", handler);
  lines.add("business_type", business_type).add("business_id", business_id);
  lines.add("state", state).add("stage", stage).add("outcome", outcome);
  lines.add("attempts", attempts).add("crashes", crashes).add("deliveries", deliveries);
  lines.add("generation", generation).add("version", version);
  lines.add("created_at", created_at).add("next_at", next_at).add("finished_at", finished_at);
  lines.add("first_failed_at", first_failed_at).add("last_failed_at", last_failed_at).add("last_error", last_error);
  for (const std::string& tag : tags) lines.add("tag", tag);
  lines.add("traceparent", traceparent).add("progress", progress).add("no_handler", no_handler);
  lines.add("requeued_as", requeued_as);
  if (task_class != TaskClass::normal) lines.add("class", task_class);
  for (const PastAttempt& attempt : last_attempts) add_attempt(lines, attempt);
}

void add_rules(Lines& lines, const task::RetryRules& rules) {
  const auto& [max_attempts, max_duration, deadline, backoff] = rules;
  lines.add("max_attempts", max_attempts).add("max_duration", max_duration).add("deadline", deadline);
  lines.add("backoff", backoff);
}

}  // namespace

std::string record_text(const task::TaskRecord& record) {
  const auto& [info, payload, payload_version, rules, result, callback_attempts, locked_by, lease_until, began] =
      record;
  static_cast<void>(began);  // stores do not return it to readers
  Lines lines;
  add_info(lines, info);
  add_rules(lines, rules);
  lines.add("payload", payload).add("payload_version", payload_version).add("result", result);
  lines.add("callback_attempts", callback_attempts).add("locked_by", locked_by).add("lease_until", lease_until);
  return lines.str();
}

}  // namespace easyretry::test
