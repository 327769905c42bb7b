#include "mxrmq/raw_object.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace easyretry::mxrmq {
namespace {

// Each function returns whether it found what it expects, and then has consumed it.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  bool document() {
    space();
    if (!value(0)) return false;
    space();
    return at_ == text_.size();
  }

 private:
  bool value(std::size_t depth) {
    if (depth > kDeepest) return false;
    if (pass('{')) return members(depth);
    if (pass('[')) return elements(depth);
    if (looks_at('"')) return string();
    return word("true") || word("false") || word("null") || number();
  }

  bool members(std::size_t depth) {
    space();
    if (pass('}')) return true;
    do {
      space();
      if (!looks_at('"') || !string()) return false;
      space();
      if (!pass(':')) return false;
      space();
      if (!value(depth + 1)) return false;
      space();
    } while (pass(','));
    return pass('}');
  }

  bool elements(std::size_t depth) {
    space();
    if (pass(']')) return true;
    do {
      space();
      if (!value(depth + 1)) return false;
      space();
    } while (pass(','));
    return pass(']');
  }

  bool string() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (pass('"')) return true;
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return false;
      if (text_[at_] == '\\' && !escape()) return false;
    }
    return false;
  }

  // Ends on its last character. Half a surrogate pair is invalid.
  bool escape() {
    if (++at_ >= text_.size()) return false;
    if (text_[at_] != 'u') return std::string_view{"\"\\/bfnrt"}.find(text_[at_]) != std::string_view::npos;
    const auto first = hex(at_ + 1);
    if (!first) return false;
    at_ += 4;
    if (*first < 0xd800 || *first > 0xdfff) return true;
    if (*first > 0xdbff || text_.substr(at_ + 1, 2) != "\\u") return false;
    const auto second = hex(at_ + 3);
    at_ += 6;
    return second && *second >= 0xdc00 && *second <= 0xdfff;
  }

  std::optional<unsigned> hex(std::size_t at) const {
    if (at + 4 > text_.size()) return std::nullopt;
    unsigned value = 0;
    const char* from = text_.data() + at;
    if (std::from_chars(from, from + 4, value, 16).ptr != from + 4) return std::nullopt;
    return value;
  }

  bool number() {
    pass('-');
    if (!pass('0') && !digits()) return false;
    if (pass('.') && !digits()) return false;
    if (pass('e') || pass('E')) {
      if (!pass('+')) pass('-');
      return digits();
    }
    return true;
  }

  bool digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > begin;
  }

  bool word(std::string_view wanted) {
    if (!text_.substr(at_).starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }
  bool looks_at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool pass(char c) {
    if (!looks_at(c)) return false;
    ++at_;
    return true;
  }
  void space() {
    while (looks_at(' ') || looks_at('\t') || looks_at('\r') || looks_at('\n')) ++at_;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

constexpr std::string_view kSpace = " \t\r\n";

// The functions below expect valid JSON.

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

bool is_key(std::string_view written, std::string_view key) {
  const std::string_view inside = written.substr(1, written.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return inside == key;
  return nlohmann::json::parse(written).get<std::string>() == key;
}

}  // namespace

bool is_json(std::string_view text) {
  return base::invalid_utf8(text) == std::string_view::npos && Checker{text}.document();
}

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
  text_.insert(text_.rfind('}'), (empty ? "" : ",") + nlohmann::json(key).dump() + ":" + std::string{value});
}

// Also erases the following comma or, for the last member, the preceding one.
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
