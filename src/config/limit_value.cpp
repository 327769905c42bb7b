// limit: off, {running: 5, per_second: 10, burst: 20}, or the same as a text: running=5 per_second=10 burst=20

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/split.h"
#include "config/values.h"

namespace easyretry::config {
namespace {

constexpr std::string_view kLimitForm =
    "off, {running: 5, per_second: 10, burst: 20}, or running=5 per_second=10 burst=20; what you leave out is not "
    "limited, and burst is 1";

[[noreturn]] void refuse_limit(const std::string& what) {
  throw std::invalid_argument(what + "; write " + std::string{kLimitForm});
}

double read_starts(const std::string& text) {
  const auto number = number_with(text, "/s");
  if (!number) refuse_limit("per_second is " + in_quotes(text));
  return *number;
}

void read_limit_field(LimitOptions& limit, const std::string& name, const Node& value) {
  if (name == "running") {
    limit.running = static_cast<int>(read_number(value, {0, 1'000'000}));
  } else if (name == "per_second") {
    limit.per_second = read_starts(read_word(value, kLimitForm));
  } else if (name == "burst") {
    limit.burst = static_cast<int>(read_number(value, {1, 1'000'000}));
  } else {
    refuse_limit(in_quotes(name) + " is unknown");
  }
}

// For environment variables, which have no maps.
LimitOptions limit_in(const std::string& text) {
  LimitOptions limit;
  if (text == "off") return limit;
  for (const std::string_view field : base::split(text, ' ')) {
    if (field.empty()) continue;
    const auto equals = field.find('=');
    if (equals == std::string_view::npos) refuse_limit("found " + in_quotes(text));
    Node value;
    value.kind = Node::Kind::word;
    value.text = field.substr(equals + 1);
    read_limit_field(limit, std::string{field.substr(0, equals)}, value);
  }
  return limit;
}

}  // namespace

std::optional<double> number_with(std::string_view text, std::string_view unit) {
  if (text.ends_with(unit)) text.remove_suffix(unit.size());
  while (text.ends_with(' ')) text.remove_suffix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

LimitOptions read_limit(const Node& node) {
  LimitOptions limit;
  if (node.kind != Node::Kind::map) {
    const std::string& text = read_word(node, kLimitForm);
    limit = limit_in(text);
    if (text == "off") return limit;
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    read_limit_field(limit, read_word(node.keys[i], kLimitForm), node.items[i]);
  }
  validate(limit);
  if (!limit.any()) refuse_limit("nothing is limited");
  return limit;
}

std::string limit_text(const LimitOptions& limit) {
  if (!limit.any()) return "off";
  std::vector<std::string> fields;
  if (limit.running) fields.push_back(fmt::format("running: {}", *limit.running));
  if (limit.per_second) fields.push_back(fmt::format("per_second: {}, burst: {}", *limit.per_second, limit.burst));
  return fmt::format("{{{}}}", fmt::join(fields, ", "));
}

}  // namespace easyretry::config
