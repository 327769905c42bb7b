#include "mxrmq/json_syntax.h"

#include <charconv>
#include <optional>

#include "base/utf8.h"

namespace easyretry::mxrmq {
namespace {

// Each step gives whether it has found what it looks for, and has then passed it.
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

  // Ends on its last character. Half of a character outside of the first 65,536 is none.
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

}  // namespace

bool is_json(std::string_view text) {
  return base::invalid_utf8(text) == std::string_view::npos && Checker{text}.document();
}

}  // namespace easyretry::mxrmq
