#include "task/error_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

#include <openssl/evp.h>

#include "base/utf8.h"

namespace easyretry::task {
namespace {

constexpr std::size_t kMostErrorBytes = 500;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_word(char c) {
  return is_digit(c) || is_letter(c) || c == '_';
}
bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

template <class Is>
std::size_t run(std::string_view text, Is is) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is) - text.begin());
}

// The following return the length of what the text begins with; 0: something else.

// In a pattern, 0 stands for a digit, x for a hexadecimal one, and others for themselves.
std::size_t like(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool fits = pattern[i] == '0'   ? is_digit(text[i])
                      : pattern[i] == 'x' ? is_hex(text[i])
                                          : text[i] == pattern[i];
    if (!fits) return 0;
  }
  return pattern.size();
}

// An apostrophe inside a word opens nothing.
std::size_t quoted(std::string_view text) {
  const char quote = text.front();
  if (quote != '"' && quote != '\'' && quote != '`') return 0;
  const auto end = text.find_first_of(std::string{quote} + "\n", 1);
  return end == std::string_view::npos || text[end] == '\n' ? 0 : end + 1;
}

std::size_t url(std::string_view text) {
  const std::size_t scheme = run(text, [](char c) { return is_letter(c) || is_digit(c) || c == '+'; });
  if (scheme == 0 || !text.substr(scheme).starts_with("://")) return 0;
  const std::size_t end = text.find_first_of(" \t\r\n\"'`<>()", scheme);
  return end == std::string_view::npos ? text.size() : end;
}

std::size_t uuid(std::string_view text) {
  const std::size_t size = like(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
  return size > 0 && (size == text.size() || !is_word(text[size])) ? size : 0;
}

std::size_t time(std::string_view text) {
  std::size_t size = like(text, "0000-00-00");
  const std::size_t clock =
      size > 0 && size < text.size() && (text[size] == 'T' || text[size] == ' ') ? size + 1 : size;
  if (like(text.substr(clock), "00:00") > 0) {
    size = clock + run(text.substr(clock), [](char c) { return is_digit(c) || c == ':' || c == '.' || c == 'Z'; });
    if (like(text.substr(size), "+00:00") > 0 || like(text.substr(size), "-00:00") > 0) size += 6;
  }
  return size;
}

// An address, or a long id: 0x7f3a, 5f0c9b21. A word of letters alone, such as "defaced", does not count.
std::size_t hex(std::string_view text) {
  constexpr std::size_t kLeast = 8;
  const bool marked = text.starts_with("0x");
  const std::size_t size = marked ? 2 + run(text.substr(2), is_hex) : run(text, is_hex);
  if (size < text.size() && is_word(text[size])) return 0;
  if (marked) return size > 2 ? size : 0;
  const std::string_view digits = text.substr(0, size);
  return size >= kLeast && std::ranges::any_of(digits, is_digit) && std::ranges::any_of(digits, is_letter) ? size : 0;
}

std::size_t number(std::string_view text) {
  std::size_t size = run(text, is_digit);
  while (size > 0 && size + 1 < text.size() && (text[size] == '.' || text[size] == ',') && is_digit(text[size + 1])) {
    size += 1 + run(text.substr(size + 1), is_digit);
  }
  return size;
}

struct Replaced {
  std::size_t (*length)(std::string_view);
  std::string_view by;
  bool at_word;  // only where a word may begin
};
constexpr std::array kReplaced{Replaced{quoted, "<text>", true}, Replaced{url, "<url>", true},
                               Replaced{uuid, "<uuid>", true},   Replaced{time, "<time>", true},
                               Replaced{hex, "<hex>", true},     Replaced{number, "<number>", false}};

// Whether the text so far ends with a word after which a number says which error it is.
bool names_a_code(std::string_view before) {
  constexpr std::array<std::string_view, 6> kWords{"http", "status", "code", "errno", "error", "sqlstate"};
  const auto end = before.find_last_not_of(" :=#([");
  if (end == std::string_view::npos) return false;
  before = before.substr(0, end + 1);
  std::size_t begin = before.size();
  while (begin > 0 && is_letter(before[begin - 1])) --begin;
  std::string word{before.substr(begin)};
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kWords, word) != kWords.end();
}

}  // namespace

std::string kind_of(std::string_view error) {
  const std::string text = base::storable_utf8(base::cut_utf8(error, kMostErrorBytes));
  std::string kind;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view{text}.substr(i);
    const bool at_word = i == 0 || !is_word(text[i - 1]);
    const auto found = std::ranges::find_if(
        kReplaced, [&](const Replaced& one) { return (at_word || !one.at_word) && one.length(rest) > 0; });
    if (found != kReplaced.end()) {
      const std::size_t size = found->length(rest);
      const bool stays = found->length == number && names_a_code(kind);
      kind += stays ? rest.substr(0, size) : found->by;
      i += size;
    } else if (is_space(rest.front())) {
      if (!kind.empty() && kind.back() != ' ') kind += ' ';
      ++i;
    } else {
      kind += text[i++];
    }
  }
  return kind;
}

std::string fingerprint_of(std::string_view kind) {
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::array<unsigned char, 32> digest{};
  if (algorithm == nullptr || EVP_Digest(kind.data(), kind.size(), digest.data(), nullptr, algorithm, nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-256");
  }
  constexpr const char* kHex = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < kFingerprintDigits / 2; ++i) text.append({kHex[digest[i] >> 4], kHex[digest[i] & 15]});
  return text;
}

bool is_fingerprint(std::string_view text) {
  const auto fits = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  return text.size() == kFingerprintDigits && std::ranges::all_of(text, fits);
}

}  // namespace easyretry::task
