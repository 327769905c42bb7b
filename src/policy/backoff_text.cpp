#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "base/duration_text.h"
#include "base/split.h"
#include "policy/decide.h"

namespace easyretry::policy {
namespace {

// The fields of each shape, once for both directions.

void each_field(Exponential& shape, auto&& visit) {
  visit("first", shape.first);
  visit("factor", shape.factor);
  visit("cap", shape.cap);
  visit("jitter", shape.jitter);
}

void each_field(Fixed& shape, auto&& visit) {
  visit("delay", shape.delay);
  visit("jitter", shape.jitter);
}

void each_field(Linear& shape, auto&& visit) {
  visit("first", shape.first);
  visit("step", shape.step);
  visit("cap", shape.cap);
  visit("jitter", shape.jitter);
}

void each_field(Ladder& shape, auto&& visit) {
  visit("steps", shape.steps);
  visit("jitter", shape.jitter);
}

void each_field(EasyRetryClassic&, auto&&) {}

std::string_view name_of(const Exponential&) {
  return "exponential";
}
std::string_view name_of(const Fixed&) {
  return "fixed";
}
std::string_view name_of(const Linear&) {
  return "linear";
}
std::string_view name_of(const Ladder&) {
  return "ladder";
}
std::string_view name_of(const EasyRetryClassic&) {
  return "classic";
}

std::string value_text(Millis duration) {
  return base::to_text(duration);
}

std::string value_text(double number) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

std::string value_text(const std::vector<Millis>& steps) {
  std::string text;
  for (const Millis step : steps) text += (text.empty() ? "" : ",") + base::to_text(step);
  return text;
}

std::string value_text(const Jitter& jitter) {
  switch (jitter.kind()) {
    case Jitter::Kind::none: return "none";
    case Jitter::Kind::additive: return base::to_text(jitter.amount());
    case Jitter::Kind::full: return "full";
    case Jitter::Kind::decorrelated: return "decorrelated";
  }
  return "none";
}

void read_value(Millis& duration, std::string_view text) {
  duration = base::parse_duration(text);
}

void read_value(double& number, std::string_view text) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw std::invalid_argument("\"" + std::string{text} + "\" is not a number");
  }
}

void read_value(std::vector<Millis>& steps, std::string_view text) {
  for (const std::string_view step : base::split(text, ',')) steps.push_back(base::parse_duration(step));
}

void read_value(Jitter& jitter, std::string_view text) {
  if (text == "none") {
    jitter = Jitter::none();
  } else if (text == "full") {
    jitter = Jitter::full();
  } else if (text == "decorrelated") {
    jitter = Jitter::decorrelated();
  } else {
    jitter = base::parse_duration(text);
  }
}

// Takes the word "name=value" out of `words`; a field without one keeps its default.
void take_field(std::vector<std::string_view>& words, std::string_view name, auto& value) {
  const std::string start = std::string{name} + "=";
  const auto word = std::find_if(words.begin(), words.end(), [&](auto w) { return w.starts_with(start); });
  if (word == words.end()) return;
  try {
    read_value(value, word->substr(start.size()));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(start + ": " + error.what());
  }
  words.erase(word);
}

template <class Shape>
Backoff read_shape(std::vector<std::string_view> words) {
  Shape shape;
  std::string known;
  each_field(shape, [&](std::string_view name, auto& value) {
    known += " " + std::string{name};
    take_field(words, name, value);
  });
  if (!words.empty()) {
    throw std::invalid_argument("unknown or repeated field \"" + std::string{words.front()} +
                                "\"; its fields are:" + (known.empty() ? " none" : known));
  }
  return shape;
}

Backoff read_backoff(std::vector<std::string_view> words) {
  const std::string kind{words.empty() ? "" : words.front()};
  if (!words.empty()) words.erase(words.begin());
  if (kind == "exponential") return read_shape<Exponential>(words);
  if (kind == "fixed") return read_shape<Fixed>(words);
  if (kind == "linear") return read_shape<Linear>(words);
  if (kind == "ladder") return read_shape<Ladder>(words);
  if (kind == "classic") return read_shape<EasyRetryClassic>(words);
  throw std::invalid_argument("unknown kind \"" + kind + "\"; the kinds are: exponential fixed linear ladder classic");
}

}  // namespace

std::string to_text(const Backoff& backoff) {
  const auto write = [](auto shape) {
    std::string text{name_of(shape)};
    each_field(shape, [&](std::string_view name, const auto& value) {
      text += " " + std::string{name} + "=" + value_text(value);
    });
    return text;
  };
  return std::visit(write, backoff);
}

Backoff parse_backoff(std::string_view text) {
  auto words = base::split(text, ' ');
  std::erase(words, "");
  try {
    Backoff backoff = read_backoff(std::move(words));
    validate(Policy{.backoff = backoff});
    return backoff;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("backoff \"" + std::string{text} + "\": " + error.what());
  }
}

}  // namespace easyretry::policy
