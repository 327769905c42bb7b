#include <algorithm>

#include <easyretry/json_text.h>

#include "config/values.h"

namespace easyretry::config {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Stricter than YAML, which has a rule for each sign and place: what is not plain beyond doubt is quoted.
bool is_plain(std::string_view text) {
  const auto harmless = [](char c) {
    return is_letter_or_digit(c) || std::string_view{" _./:=-+*<>()"}.find(c) != std::string_view::npos;
  };
  if (text.empty() || !(is_letter_or_digit(text.front()) || text.front() == '/')) return false;
  if (text.ends_with(' ') || text.ends_with(':') || text.find(": ") != std::string_view::npos) return false;
  if (text == "null" || text == "Null" || text == "NULL") return false;
  return std::all_of(text.begin(), text.end(), harmless);
}

}  // namespace

// A JSON string is a YAML one.
std::string yaml_word(std::string_view text) {
  if (is_plain(text)) return std::string{text};
  JsonWriter writer;
  writer.string(text);
  return writer.take();
}

std::string yaml_list(const std::vector<WrittenName>& names) {
  std::string text;
  for (const WrittenName& name : names) text.append(text.empty() ? "" : ", ").append(yaml_word(name.name));
  return "[" + text + "]";
}

std::string yaml_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : ", ").append(yaml_word(word));
  return "[" + text + "]";
}

}  // namespace easyretry::config
