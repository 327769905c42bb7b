#include "base/utf8.h"

#include <algorithm>

namespace easyretry::base {
namespace {

// The first bytes of multi-byte characters, and the range of the second byte. The second byte reveals overlong forms
// (E0, F0), surrogates (ED) and code points that are too large (F4).
struct Lead {
  unsigned char first, last;
  unsigned char second_min, second_max;
  std::size_t length;
};
constexpr Lead kLeads[] = {
    {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3},
    {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

unsigned char byte(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// 0 if no character starts at `at`.
std::size_t character_length(std::string_view text, std::size_t at) {
  const unsigned char lead = byte(text, at);
  if (lead < 0x80) return 1;
  for (const Lead& kind : kLeads) {
    if (lead < kind.first || lead > kind.last) continue;
    if (text.size() - at < kind.length) return 0;
    if (byte(text, at + 1) < kind.second_min || byte(text, at + 1) > kind.second_max) return 0;
    for (std::size_t i = 2; i < kind.length; ++i) {
      if ((byte(text, at + i) & 0xC0) != 0x80) return 0;
    }
    return kind.length;
  }
  return 0;
}

constexpr std::size_t kMostFollowing = 3;  // continuation bytes of a character

bool follows(std::string_view text, std::size_t at) {
  return (byte(text, at) & 0xC0) == 0x80;
}

}  // namespace

std::size_t invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string_view cut_utf8(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  for (std::size_t end = most; end > 0 && most - end <= kMostFollowing; --end) {
    if (!follows(text, end)) return text.substr(0, end);
  }
  return text.substr(0, most);
}

std::string_view last_utf8(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::size_t earliest = text.size() - most;
  for (std::size_t begin = earliest; begin < text.size() && begin - earliest <= kMostFollowing; ++begin) {
    if (!follows(text, begin)) return text.substr(begin);
  }
  return text.substr(earliest);
}

std::string storable_utf8(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string storable;
  storable.reserve(text.size());
  while (!text.empty()) {
    const std::size_t good = std::min({invalid_utf8(text), text.find('\0'), text.size()});
    storable.append(text.substr(0, good));
    if (good == text.size()) break;
    storable.append(kReplacement);
    text.remove_prefix(good + 1);
  }
  return storable;
}

}  // namespace easyretry::base
