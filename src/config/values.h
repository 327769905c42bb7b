#pragma once
// Converts nodes to values, and values to YAML. Readers throw std::invalid_argument that says what is wrong with the
// node and what to write instead; the caller adds where it is.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/config.h>

#include "config/node.h"

namespace easyretry::config {

struct NumberRange {  // from least to most, inclusive
  std::int64_t least;
  std::int64_t most;
};
struct DurationRange {
  Millis least;
  Millis most;
};

// `form` says what to write if the node is not a single value: "a whole number from 1 to 4096".
const std::string& read_word(const Node& node, std::string_view form);

std::int64_t read_number(const Node& node, NumberRange range);
Millis read_duration(const Node& node, DurationRange range);
Millis read_retention(const Node& node);  // `none` is 0
TimePoint read_time(const Node& node);
Persist read_persist(const Node& node);
Assignment read_assignment(const Node& node);
AtStart read_at_start(const Node& node);
TaskClass read_class(const Node& node);
std::string read_membership(const Node& node);  // not validated here, but by validate(EngineOptions)
std::string read_store(const Node& node);
std::string read_namespace(const Node& node);
Backoff read_backoff(const Node& node);  // "exponential first=1s", or {kind: exponential, first: 1s}
CircuitOptions read_circuit(const Node& node);
LimitOptions read_limit(const Node& node);
// A number with this unit, or without one: "50 %", "1/s", "0.5".
std::optional<double> number_with(std::string_view text, std::string_view unit);
std::string read_success_when(const Node& node);
std::vector<WrittenName> read_names(const Node& node);
std::vector<std::string> read_words(const Node& node);
std::string read_path(const Node& node);
std::string read_key_id(const Node& node);  // of encryption; read_keys() checks that it exists
bool read_flag(const Node& node);
std::string read_url(const Node& node);
ChannelType read_channel_type(const Node& node);
LogLevel read_log_level(const Node& node);
LogFormat read_log_format(const Node& node);
std::string read_listen(const Node& node);  // "127.0.0.1:7077", "[::1]:7077"

// As YAML, in quotes if necessary.
std::string yaml_word(std::string_view text);
std::string yaml_list(const std::vector<WrittenName>& names);
std::string yaml_list(const std::vector<std::string>& words);
std::string retention_text(Millis keep);
std::string circuit_text(const CircuitOptions& circuit);
std::string limit_text(const LimitOptions& limit);
std::string_view persist_text(Persist persist);
std::string_view assignment_text(Assignment assignment);
std::string_view at_start_text(AtStart at_start);
std::string_view channel_type_text(ChannelType type);
std::string_view log_level_text(LogLevel level);
std::string_view log_format_text(LogFormat format);

}  // namespace easyretry::config
