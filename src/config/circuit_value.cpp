// circuit: on, off, or {name: gateway, trip_at: 50 %, window: 10s, least: 20, probes: 1/s, limit: {running: 5}}

#include <stdexcept>

#include <fmt/format.h>

#include "base/duration_text.h"
#include "config/values.h"

namespace easyretry::config {
namespace {

constexpr std::string_view kCircuitForm =
    "on, off, or {name: gateway, trip_at: 50 %, window: 10s, least: 20, probes: 1/s}; what you leave out has these "
    "values, and the handler's name";

[[noreturn]] void refuse_circuit(const std::string& what) {
  throw std::invalid_argument(what + "; write " + std::string{kCircuitForm});
}

double read_share(const std::string& text) {
  const auto number = number_with(text, "%");
  if (!number) refuse_circuit("trip_at is " + in_quotes(text));
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
    circuit.trip_at = read_share(read_word(value, kCircuitForm));
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
  return fmt::format("{{{}trip_at: {}, window: {}, least: {}, probes: {}{}}}", name, circuit.trip_at,
                     base::to_text(circuit.window), circuit.least, circuit.probes, limit);
}

}  // namespace easyretry::config
