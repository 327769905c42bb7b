#include "server/request_fields.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/nearest.h"
#include "base/time_text.h"
#include "server/refusal.h"
#include "server/task_json.h"

namespace easyretry::server {
namespace {

[[noreturn]] void refuse(const JsonView& value, const std::string& what) {
  throw Refusal{{422, "invalid", value.path() + ": " + what}};
}

}  // namespace

Fields::Fields(JsonView object) : object_(object) {
  object_.expect(JsonKind::object);
}

std::optional<JsonView> Fields::find(std::string_view name) {
  known_.push_back(name);
  auto found = object_.find(name);
  if (found && found->is_null()) return std::nullopt;
  return found;
}

JsonView Fields::need(std::string_view name) {
  if (const auto found = find(name)) return *found;
  object_.fail_missing(name);
}

std::string Fields::text(std::string_view name, std::string otherwise) {
  const auto found = find(name);
  return found ? std::string{found->as_string()} : std::move(otherwise);
}

std::int64_t Fields::number(std::string_view name, std::int64_t otherwise, std::int64_t least, std::int64_t most) {
  const auto found = find(name);
  if (!found) return otherwise;
  const std::int64_t value = found->as_int();
  if (value < least || value > most) {
    refuse(*found, "is " + std::to_string(value) + "; use " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

bool Fields::flag(std::string_view name, bool otherwise) {
  const auto found = find(name);
  return found ? found->as_bool() : otherwise;
}

std::optional<Millis> Fields::millis(std::string_view name, Millis most) {
  constexpr std::int64_t kNothing = -1;
  const std::int64_t value = number(name, kNothing, 0, most.count());
  if (value == kNothing) return std::nullopt;
  return Millis{value};
}

std::optional<TimePoint> Fields::time(std::string_view name) {
  const auto found = find(name);
  if (!found) return std::nullopt;
  try {
    return base::parse_time(found->as_string());
  } catch (const std::invalid_argument& e) {
    refuse(*found, e.what());
  }
}

std::vector<std::string> Fields::texts(std::string_view name, std::size_t most) {
  std::vector<std::string> all;
  const auto found = find(name);
  if (!found) return all;
  found->expect(JsonKind::array);
  if (found->size() > most) refuse(*found, "has more than " + std::to_string(most) + " entries");
  for (std::size_t i = 0; i < found->size(); ++i) all.emplace_back(found->at(i).as_string());
  return all;
}

void Fields::end() const {
  for (const auto [key, value] : object_.members()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string message = value.path() + ": unknown field";
    if (const auto meant = base::nearest(key, known_)) message += "; did you mean " + std::string{*meant} + "?";
    throw Refusal{{422, "unknown_field", std::move(message)}};
  }
}

namespace {

constexpr std::size_t kMostRows = 1000;

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw Refusal{{422, "invalid", "the parameter " + name + ": " + what}};
}

std::string text(const Conditions& conditions, const std::string& name) {
  const auto found = conditions.find(name);
  return found == conditions.end() ? std::string{} : found->second;
}

std::optional<TimePoint> time(const Conditions& conditions, const std::string& name) {
  const std::string value = text(conditions, name);
  if (value.empty()) return std::nullopt;
  try {
    return base::parse_time(value);
  } catch (const std::invalid_argument& e) {
    refuse(name, e.what());
  }
}

std::size_t limit(const Conditions& conditions) {
  const std::string value = text(conditions, "limit");
  if (value.empty()) return TaskQuery{}.limit;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < 1 || number > kMostRows) {
    refuse("limit", "\"" + value + "\" is not a number from 1 to " + std::to_string(kMostRows));
  }
  return number;
}

template <class Enum, std::size_t n>
std::optional<Enum> one_of(const Conditions& conditions, const std::string& name, const std::array<Enum, n>& all) {
  const std::string value = text(conditions, name);
  if (value.empty()) return std::nullopt;
  std::string known;
  for (const Enum one : all) {
    if (name_of(one) == value) return one;
    known.append(known.empty() ? "" : ", ").append(name_of(one));
  }
  refuse(name, "unknown value \"" + value + "\"; known: " + known);
}

}  // namespace

void require_known(const Conditions& conditions, const std::vector<std::string_view>& known) {
  for (const auto& [name, value] : conditions) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto meant = base::nearest(name, known);
    refuse(name, meant ? "unknown parameter; did you mean " + std::string{*meant} + "?" : "unknown parameter");
  }
}

bool yes(const Conditions& conditions, const std::string& name) {
  const std::string value = text(conditions, name);
  if (!value.empty() && value != "true" && value != "false") {
    refuse(name, "\"" + value + "\" is neither true nor false");
  }
  return value == "true";
}

TaskQuery task_query(const Conditions& conditions, bool finished) {
  std::vector<std::string_view> known{"key",          "handler",       "business_type", "business_id",
                                      "created_from", "created_until", "after",         "limit"};
  if (finished) {
    known.insert(known.end(), {"outcome", "finished_from", "finished_until", "requeued"});
  } else {
    known.emplace_back("state");
  }
  require_known(conditions, known);
  TaskQuery query;
  query.finished = finished;
  query.key = text(conditions, "key");
  query.handler = text(conditions, "handler");
  query.business_type = text(conditions, "business_type");
  query.business_id = text(conditions, "business_id");
  query.created_at = {time(conditions, "created_from"), time(conditions, "created_until")};
  query.finished_at = {time(conditions, "finished_from"), time(conditions, "finished_until")};
  query.state = one_of(conditions, "state", std::array{TaskState::pending, TaskState::running});
  query.outcome = one_of(conditions, "outcome",
                         std::array{Outcome::succeeded, Outcome::exhausted, Outcome::rejected, Outcome::quarantined,
                                    Outcome::parked, Outcome::cancelled});
  query.requeued = yes(conditions, "requeued");
  query.limit = limit(conditions);
  if (const std::string after = text(conditions, "after"); !after.empty()) {
    try {
      query.after = parse_id(after);
    } catch (const Refusal&) {
      refuse("after", "\"" + after + "\" is not the \"next\" of a previous page");
    }
  }
  return query;
}

}  // namespace easyretry::server
