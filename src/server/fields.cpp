#include "server/fields.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/time_text.h"
#include "server/refusal.h"

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
    std::string message = value.path() + ": there is no such field";
    if (const auto meant = base::nearest(key, known_)) message += "; did you mean " + std::string{*meant} + "?";
    throw Refusal{{422, "unknown_field", std::move(message)}};
  }
}

}  // namespace easyretry::server
