#include "server/request_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/nearest.h"
#include "base/time_text.h"
#include "server/refusal.h"
#include "task/error_kind.h"
#include "task/list_cursor.h"
#include "task/record.h"

namespace easyretry::server {
namespace {

[[noreturn]] void refuse(const JsonView& value, const std::string& what) {
  throw Refusal{{422, "invalid", value.path() + ": " + what}};
}

// Clients whose language has one kind of number may write 17.0.
std::int64_t whole(const JsonView& value) {
  constexpr double kExact = 9007199254740992;  // up to 2^53, every whole number is a double
  if (value.kind() != JsonKind::number) return value.as_int();
  const double number = value.as_double();
  const bool is_whole = std::trunc(number) == number && std::abs(number) <= kExact;
  return is_whole ? static_cast<std::int64_t>(number) : value.as_int();
}

}  // namespace

std::string reason_in(Fields& fields) {
  const JsonView why = fields.need("why");
  if (why.as_string().empty()) refuse(why, "is empty; say why: operators and on_final_failure read it");
  return std::string{why.as_string()};
}

TaskId parse_id(const std::string& text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || id < 0) {
    throw Refusal{
        {404, "not_found", "there is no task \"" + text + "\"", "an id is a whole number, as returned by submit"}};
  }
  return static_cast<TaskId>(id);
}

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

std::int64_t Fields::need_whole(std::string_view name) {
  return whole(need(name));
}

std::string Fields::text(std::string_view name, std::string otherwise) {
  const auto found = find(name);
  return found ? std::string{found->as_string()} : std::move(otherwise);
}

std::int64_t Fields::number(std::string_view name, std::int64_t otherwise, std::int64_t least, std::int64_t most) {
  const auto found = find(name);
  if (!found) return otherwise;
  const std::int64_t value = whole(*found);
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

std::optional<TaskClass> Fields::task_class() {
  const auto found = find("class");
  if (!found) return std::nullopt;
  const auto named = task::class_named(found->as_string());
  if (!named) {
    refuse(*found, "unknown class \"" + std::string{found->as_string()} + "\"; use urgent, normal or background");
  }
  return named;
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

std::size_t number(const std::string& name, const std::string& value, std::size_t least, std::size_t most) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < least || number > most) {
    refuse(name, "\"" + value + "\" is not a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

std::size_t limit(const Conditions& conditions) {
  const std::string value = text(conditions, "limit");
  return value.empty() ? TaskQuery{}.limit : number("limit", value, 1, kMostRows);
}

std::string error_kind(const Conditions& conditions) {
  std::string value = text(conditions, "error");
  if (!value.empty() && !task::is_fingerprint(value)) {
    refuse("error", "\"" + value + "\" is not a fingerprint of GET /v1/errors, which has 16 hexadecimal digits");
  }
  return value;
}

int attempts(const Conditions& conditions) {
  constexpr std::size_t kMostAttempts = 1'000'000;
  const std::string value = text(conditions, "attempts_from");
  return value.empty() ? 0 : static_cast<int>(number("attempts_from", value, 1, kMostAttempts));
}

template <class Enum, std::size_t n>
std::optional<Enum> one_of(const Conditions& conditions, const std::string& name, const std::array<Enum, n>& all) {
  const std::string value = text(conditions, name);
  if (value.empty()) return std::nullopt;
  std::string known;
  for (const Enum one : all) {
    if (to_string(one) == value) return one;
    known.append(known.empty() ? "" : ", ").append(to_string(one));
  }
  refuse(name, "unknown value \"" + value + "\"; known: " + known);
}

TaskId after(const Conditions& conditions, ListOrder order) {
  const std::string value = text(conditions, "after");
  if (value.empty()) return {};
  const auto cursor = task::parse_list_cursor(value);
  if (!cursor) refuse("after", "\"" + value + "\" is not the \"next\" of a previous page");
  if (cursor->order == order) return cursor->after;
  const std::string its{to_string(cursor->order)};
  throw Refusal{{400, "wrong_order",
                 "the parameter after: \"" + value + "\" is from a list with the " + its +
                     " tasks first, but this one has the " + std::string{to_string(order)} + " first",
                 "ask with order=" + its + ", or begin again without after"}};
}

}  // namespace

void require_known(const Conditions& conditions, const std::vector<std::string_view>& known) {
  for (const auto& [name, value] : conditions) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (known.empty()) refuse(name, "unknown parameter; this request has none");
    std::string all;
    for (const std::string_view one : known) all.append(all.empty() ? "" : ", ").append(one);
    const auto meant = base::nearest(name, known);
    refuse(name, "unknown parameter; " + (meant ? "did you mean " + std::string{*meant} + "? " : std::string{}) +
                     "known: " + all);
  }
}

void require_no_body(const http::Request& request) {
  if (request.body.empty()) return;
  const JsonDocument body = JsonDocument::parse(request.body);
  Fields{body.root()}.end();
}

bool yes(const Conditions& conditions, const std::string& name) {
  const auto found = conditions.find(name);
  if (found == conditions.end()) return false;
  const std::string& value = found->second;
  if (value != "true" && value != "false") refuse(name, "\"" + value + "\" is neither true nor false");
  return value == "true";
}

Millis millis(const Conditions& conditions, const std::string& name, Millis most) {
  if (!conditions.contains(name)) return Millis{0};
  return Millis{number(name, text(conditions, name), 0, static_cast<std::size_t>(most.count()))};
}

TaskQuery task_query(const Conditions& conditions, bool finished) {
  std::vector<std::string_view> known{"key",           "handler", "business_type", "business_id",   "created_from",
                                      "created_until", "failed",  "error",         "attempts_from", "tag",
                                      "class",         "order",   "after",         "limit"};
  if (finished) {
    known.insert(known.end(), {"outcome", "finished_from", "finished_until", "requeued"});
  } else {
    known.insert(known.end(), {"state", "due_from", "due_until", "owner"});
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
  query.failed = yes(conditions, "failed");
  query.error = error_kind(conditions);
  query.attempts_from = attempts(conditions);
  query.due_at = {time(conditions, "due_from"), time(conditions, "due_until")};
  query.owner = text(conditions, "owner");
  query.tag = text(conditions, "tag");
  query.task_class =
      one_of(conditions, "class", std::array{TaskClass::urgent, TaskClass::normal, TaskClass::background});
  query.limit = limit(conditions);
  query.order = one_of(conditions, "order", std::array{ListOrder::newest_first, ListOrder::oldest_first})
                    .value_or(ListOrder::newest_first);
  query.after = after(conditions, query.order);
  return query;
}

}  // namespace easyretry::server
