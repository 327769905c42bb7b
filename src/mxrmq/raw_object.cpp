#include "mxrmq/raw_object.h"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "mxrmq/json_syntax.h"

namespace easyretry::mxrmq {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// All of these are given text that is known to be JSON.

std::size_t skip_space(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kSpace, at), text.size());
}

std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

std::size_t skip_container(std::string_view text, std::size_t at) {
  for (int depth = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    ++at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) break;
  }
  return at;
}

std::size_t skip_value(std::string_view text, std::size_t at) {
  if (text[at] == '"') return skip_string(text, at);
  if (text[at] == '{' || text[at] == '[') return skip_container(text, at);
  return std::min(text.find_first_of(",]} \t\r\n", at), text.size());
}

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump();
}

bool is_key(std::string_view written, std::string_view key) {
  const std::string_view inside = written.substr(1, written.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return inside == key;
  return nlohmann::json::parse(written).get<std::string>() == key;
}

}  // namespace

RawObject::RawObject(std::string_view text) : text_(text) {
  if (!is_json(text)) throw std::invalid_argument("not JSON");
  text_ = text.substr(skip_space(text, 0));
  if (text_.front() != '{') throw std::invalid_argument("not a JSON object");
}

std::optional<RawObject::Member> RawObject::locate(std::string_view key) const {
  const std::string_view text = text_;
  std::optional<Member> found;
  for (std::size_t at = skip_space(text, 1); text[at] != '}';) {
    Member member{.begin = at};
    const std::size_t key_end = skip_string(text, at);
    const std::size_t colon = skip_space(text, key_end);
    member.value = skip_space(text, colon + 1);
    member.end = skip_value(text, member.value);
    if (is_key(text.substr(at, key_end - at), key)) found = member;
    at = skip_space(text, member.end);
    if (text[at] == ',') at = skip_space(text, at + 1);
  }
  return found;
}

std::optional<std::string_view> RawObject::find(std::string_view key) const {
  const auto member = locate(key);
  if (!member) return std::nullopt;
  return std::string_view{text_}.substr(member->value, member->end - member->value);
}

void RawObject::set(std::string_view key, std::string_view value) {
  if (const auto member = locate(key)) {
    text_.replace(member->value, member->end - member->value, value);
    return;
  }
  const bool empty = text_[skip_space(text_, 1)] == '}';
  text_.insert(text_.rfind('}'), (empty ? "" : ",") + json_text(key) + ":" + std::string{value});
}

// With the comma that follows or, of the last one, the one before.
void RawObject::erase(std::string_view key) {
  while (const auto member = locate(key)) {
    std::size_t begin = member->begin;
    std::size_t end = skip_space(text_, member->end);
    if (text_[end] == ',') {
      end = skip_space(text_, end + 1);
    } else if (const auto before = text_.find_last_not_of(kSpace, begin - 1); text_[before] == ',') {
      begin = before;
    }
    text_.erase(begin, end - begin);
  }
}

}  // namespace easyretry::mxrmq
