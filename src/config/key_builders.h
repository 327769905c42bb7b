#pragma once
// The parts that the tables of keys are built from: where a field is, how it is read, and how it is written.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/duration_text.h"
#include "base/time_text.h"
#include "config/keys.h"
#include "config/values.h"
#include "policy/decide.h"

namespace easyretry::config::build {

inline std::string text_of(bool flag) {
  return flag ? "true" : "false";
}
inline std::string text_of(int number) {
  return std::to_string(number);
}
inline std::string text_of(std::size_t number) {
  return std::to_string(number);
}
inline std::string text_of(Millis duration) {
  return base::to_text(duration);
}
inline std::string text_of(TimePoint time) {
  return yaml_word(base::to_text(time));
}
inline std::string text_of(Persist persist) {
  return std::string{persist_text(persist)};
}
inline std::string text_of(Assignment assignment) {
  return std::string{assignment_text(assignment)};
}
inline std::string text_of(AtStart at_start) {
  return std::string{at_start_text(at_start)};
}
inline std::string text_of(TaskClass task_class) {
  return std::string{to_string(task_class)};
}
inline std::string text_of(LogLevel level) {
  return std::string{log_level_text(level)};
}
inline std::string text_of(LogFormat format) {
  return std::string{log_format_text(format)};
}
inline std::string text_of(const Backoff& backoff) {
  return yaml_word(policy::to_text(backoff));
}
inline std::string text_of(const std::string& text) {
  return yaml_word(text);
}
inline std::string text_of(const std::vector<std::string>& words) {
  return yaml_list(words);
}
inline std::string text_of(const std::vector<WrittenName>& names) {
  return yaml_list(names);
}
inline std::string text_of(const CircuitOptions& circuit) {
  return circuit_text(circuit);
}
inline std::string text_of(const LimitOptions& limit) {
  return limit_text(limit);
}
template <class T>
std::optional<std::string> text_of(const std::optional<T>& value) {
  if (!value) return std::nullopt;
  return text_of(*value);
}

// A field in its owner: at(&Config::engine, &EngineOptions::workers).
inline auto at(auto... members) {
  return [=](auto& owner) -> auto& {
    return (owner.*....*members);
  };
}

template <class T>
inline auto number_in(NumberRange range) {
  return [=](const Node& node) { return static_cast<T>(read_number(node, range)); };
}

inline auto duration_in(DurationRange range) {
  return [=](const Node& node) { return read_duration(node, range); };
}

template <class Owner>
Key<Owner> key(std::string_view name, TakesEffect takes_effect, auto field, auto reader) {
  return {name, takes_effect, [=](Owner& owner, const Node& node) { field(owner) = reader(node); },
          [=](const Owner& owner) -> std::optional<std::string> { return text_of(field(owner)); }};
}

// The same key, whose optional value is written as to_text(value).
template <class Owner>
Key<Owner> written(Key<Owner> key, auto field, auto to_text) {
  key.text = [=](const Owner& owner) -> std::optional<std::string> {
    const auto& value = field(owner);
    return value ? std::optional{to_text(*value)} : std::nullopt;
  };
  return key;
}

template <class Owner>
Key<Owner> list(Key<Owner> key) {
  key.is_list = true;
  return key;
}

}  // namespace easyretry::config::build
