#include "base/harmless.h"

#include <array>

#include "base/utf8.h"

namespace easyretry::base {
namespace {

struct Range {
  char32_t first, last;
};
constexpr std::array kObeyed{
    Range{0x00, 0x1F},     Range{0x7F, 0x9F},                             // C0, DEL and C1, where U+009B is ESC [
    Range{0x2028, 0x2029},                                                // ends of lines and paragraphs
    Range{0x061C, 0x061C}, Range{0x200E, 0x200F}, Range{0x202A, 0x202E},  // direction marks
    Range{0x2066, 0x2069},
};

bool is_obeyed(char32_t code) {
  for (const Range& range : kObeyed) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

struct Character {
  std::string_view bytes;
  char32_t code;
};

// The first character of a valid UTF-8 text, which must not be empty.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t code = size == 1 ? lead : lead & (0xFFU >> (size + 1));
  for (const char c : text.substr(1, size - 1)) code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  return {text.substr(0, size), code};
}

std::string escaped(char32_t code) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "\\u";
  for (unsigned shift = 16; shift > 0; shift -= 4) text += kHex[code >> (shift - 4) & 0xFU];
  return text;
}

template <class Instead>
std::string replaced(std::string_view text, Instead instead) {
  const std::string stored = storable_utf8(text);
  std::string harmless;
  harmless.reserve(stored.size());
  for (std::string_view rest = stored; !rest.empty();) {
    const Character next = first_of(rest);
    rest.remove_prefix(next.bytes.size());
    harmless.append(is_obeyed(next.code) ? instead(next.code) : next.bytes);
  }
  return harmless;
}

}  // namespace

std::string one_line(std::string_view text) {
  return replaced(text, [](char32_t) { return " "; });
}

std::string several_lines(std::string_view text) {
  return replaced(text, [](char32_t code) { return code == '\n' ? "\n" : " "; });
}

std::string with_escapes(std::string_view text) {
  return replaced(text, escaped);
}

}  // namespace easyretry::base
