// circuit: on, off, or {name: gateway, trip_at: 50 %, window: 10s, least: 20, probes: 1/s, limit: {running: 5},
//          retries_at_most: 20 %}
// limit: off, {running: 5, per_second: 10, burst: 20}, or the same as a text: running=5 per_second=10 burst=20

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration_text.h"
#include "base/split.h"
#include "config/values.h"

namespace easyretry::config {

namespace {

constexpr std::string_view kCircuitForm =
    "on, off, or {name: gateway, trip_at: 50 %, window: 10s, least: 20, probes: 1/s}; what you leave out has these "
    "values, and the handler's name; retries_at_most: 20 % holds retries back";

[[noreturn]] void refuse_circuit(const std::string& what) {
  throw std::invalid_argument(what + "; write " + std::string{kCircuitForm});
}

double read_share(const std::string& name, const Node& value) {
  const std::string& text = read_word(value, kCircuitForm);
  const auto number = number_with(text, "%");
  if (!number) refuse_circuit(name + " is " + in_quotes(text));
  return text.ends_with('%') ? *number / 100 : *number;
}

double read_rate(const std::string& text) {
  const auto number = number_with(text, "/s");
  if (!number) refuse_circuit("probes is " + in_quotes(text));
  return *number;
}

void read_field(CircuitOptions& circuit, const std::string& name, const Node& value) {
  if (name == "name") {
    circuit.name = read_word(value, kCircuitForm);
  } else if (name == "trip_at") {
    circuit.trip_at = read_share(name, value);
  } else if (name == "retries_at_most") {
    circuit.retries_at_most = read_share(name, value);
  } else if (name == "window") {
    circuit.window = read_duration(value, {std::chrono::seconds{1}, std::chrono::seconds{60}});
  } else if (name == "least") {
    circuit.least = static_cast<int>(read_number(value, {1, 1'000'000}));
  } else if (name == "probes") {
    circuit.probes = read_rate(read_word(value, kCircuitForm));
  } else if (name == "limit") {
    circuit.limit = read_limit(value);
  } else {
    refuse_circuit(in_quotes(name) + " is unknown");
  }
}

}  // namespace

CircuitOptions read_circuit(const Node& node) {
  CircuitOptions circuit;
  if (node.kind == Node::Kind::map) {
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      read_field(circuit, read_word(node.keys[i], kCircuitForm), node.items[i]);
    }
    validate(circuit);
    return circuit;
  }
  const std::string& word = read_word(node, kCircuitForm);
  if (word == "off") circuit.trip_at = 1;
  if (word != "on" && word != "off") refuse_circuit("found " + in_quotes(word));
  return circuit;
}

std::string circuit_text(const CircuitOptions& circuit) {
  if (circuit == CircuitOptions{}) return "on";
  if (circuit.trip_at == 1) return "off";
  const std::string name = circuit.name.empty() ? "" : fmt::format("name: {}, ", yaml_word(circuit.name));
  const std::string limit = circuit.limit.any() ? ", limit: " + limit_text(circuit.limit) : "";
  const std::string retries =
      circuit.retries_at_most ? fmt::format(", retries_at_most: {}", *circuit.retries_at_most) : "";
  return fmt::format("{{{}trip_at: {}, window: {}, least: {}, probes: {}{}{}}}", name, circuit.trip_at,
                     base::to_text(circuit.window), circuit.least, circuit.probes, limit, retries);
}

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
