#include "server/query.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/nearest.h"
#include "base/time_text.h"
#include "server/refusal.h"
#include "server/task_json.h"

namespace easyretry::server {
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
    refuse(name, meant ? "there is no such parameter; did you mean " + std::string{*meant} + "?"
                       : "there is no such parameter");
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
