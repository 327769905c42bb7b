#pragma once
// Reads JSON in the form that JsonWriter writes, twice as fast as the full parser, because that form has no white space
// and few escapes. It never rejects a text: whatever it does not know is left to the full parser.

#include <charconv>
#include <optional>
#include <string_view>

#include "base/utf8.h"

namespace easyretry::base {

// `Builder` gets the same calls as from nlohmann's sax_parse, and bounds the depth by throwing or returning false.
template <class Builder>
class CanonicalReader {
 public:
  CanonicalReader(std::string_view text, Builder& out) : at_(text.data()), end_(text.data() + text.size()), out_(out) {}

  // False: discard what was built and use the full parser.
  bool read() { return value() && at_ == end_; }

 private:
  bool value() {
    switch (peek()) {
      case '{': return object();
      case '[': return array();
      case '"': return string() && out_.string(text_);
      case 't': return take("true") && out_.boolean(true);
      case 'f': return take("false") && out_.boolean(false);
      case 'n': return take("null") && out_.null();
      default: return number();
    }
  }

  bool array() {
    ++at_;
    if (!out_.start_array(0)) return false;
    if (take(']')) return out_.end_array();
    do {
      if (!value()) return false;
    } while (take(','));
    return take(']') && out_.end_array();
  }

  bool object() {
    ++at_;
    if (!out_.start_object(0)) return false;
    if (take('}')) return out_.end_object();
    std::optional<std::string_view> last;
    do {
      if (!string() || !take(':') || (last && text_ <= *last)) return false;
      last = text_;
      if (!out_.key(text_) || !value()) return false;
    } while (take(','));
    return take('}') && out_.end_object();
  }

  bool string() {
    if (!take('"')) return false;
    const char* const begin = at_;
    bool ascii = true;
    for (; peek() != '"'; ++at_) {
      const auto byte = static_cast<unsigned char>(peek());  // 0 at the end; a string cannot contain it either
      if (byte < 0x20 || byte == '\\') return false;
      ascii = ascii && byte < 0x80;
    }
    text_ = {begin, static_cast<std::size_t>(at_ - begin)};
    ++at_;
    return ascii || invalid_utf8(text_) == std::string_view::npos;
  }

  bool number() {
    const char* const begin = at_;
    const bool negative = take('-');
    const bool zero = peek() == '0';
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (peek() == '.' || peek() == 'e' || peek() == 'E') return decimal(begin);
    if (negative) return integer<std::int64_t>(begin, [&](auto n) { return out_.number_integer(n); });
    return integer<std::uint64_t>(begin, [&](auto n) { return out_.number_unsigned(n); });
  }

  // An integer that does not fit is left to the full parser, which reads it as a float.
  template <class Integer>
  bool integer(const char* begin, auto&& give) {
    Integer n = 0;
    return std::from_chars(begin, at_, n).ec == std::errc{} && give(n);
  }

  bool decimal(const char* begin) {
    if (take('.') && digits() == 0) return false;
    if (take('e') || take('E')) {
      if (!take('-')) take('+');
      if (digits() == 0) return false;
    }
    double n = 0;
    return std::from_chars(begin, at_, n).ec == std::errc{} && out_.number_float(n, {});
  }

  std::size_t digits() {
    const char* const begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return static_cast<std::size_t>(at_ - begin);
  }

  char peek() const { return at_ == end_ ? '\0' : *at_; }

  bool take(char expected) {
    if (peek() != expected) return false;
    ++at_;
    return true;
  }

  bool take(std::string_view expected) {
    if (!std::string_view{at_, static_cast<std::size_t>(end_ - at_)}.starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }

  const char* at_;
  const char* const end_;
  Builder& out_;
  std::string_view text_;  // the key or string just read
};

}  // namespace easyretry::base
