#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <easyretry/detail/json_containers.h>
#include <easyretry/detail/json_text.h>

#include "base/json_path.h"
#include "base/utf8.h"

namespace easyretry {
namespace {

[[noreturn]] void misuse(const std::string& path, std::string_view what) {
  throw JsonError(path + ": JsonWriter: " + std::string{what});
}

std::string escaped(char c) {
  switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\b': return "\\b";
    case '\f': return "\\f";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: break;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string{"\\u00"} + kHex[byte >> 4] + kHex[byte & 15];
}

// Lambdas, because algorithms call a plain function for each character instead of inlining it.
constexpr auto kNeedsEscape = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; };
constexpr auto kIsPlain = [](char c) { return static_cast<unsigned char>(c) < 0x80 && !kNeedsEscape(c); };

}  // namespace

void JsonWriter::null() {
  before_value();
  text_ += "null";
}

void JsonWriter::boolean(bool value) {
  before_value();
  text_ += value ? "true" : "false";
}

void JsonWriter::integer(std::int64_t value) {
  before_value();
  append_number(value);
}

void JsonWriter::unsigned_integer(std::uint64_t value) {
  before_value();
  append_number(value);
}

void JsonWriter::number(double value) {
  before_value();
  append_finite(value);
}

void JsonWriter::number(float value) {
  before_value();
  const std::size_t begin = text_.size();
  append_finite(value);
  // Numbers are read as doubles. For exactly one float, 7.038531e-26, the shortest text then rounds to its neighbour
  // (every bit pattern was tried). It gets more digits.
  double read_back = 0;
  std::from_chars(text_.data() + begin, text_.data() + text_.size(), read_back);
  if (static_cast<float>(read_back) != value) {
    text_.resize(begin);
    append_finite(static_cast<double>(value));
  }
}

void JsonWriter::string(std::string_view value) {
  before_value();
  append_quoted(value);
}

void JsonWriter::begin_array() {
  begin(false, '[');
}
void JsonWriter::end_array() {
  end(false, ']');
}
void JsonWriter::begin_object() {
  begin(true, '{');
}
void JsonWriter::end_object() {
  end(true, '}');
}

void JsonWriter::key(std::string_view name) {
  if (levels_.empty() || !levels_.back().is_object) misuse(path(), "a key outside an object");
  Level& level = levels_.back();
  if (level.has_key) misuse(path(), "a key where its value should be");
  if (level.count++ > 0) {
    if (members_.back().key >= name) level.sorted = false;
    text_ += ',';
  }
  level.has_key = true;
  members_.push_back({std::string{name}, text_.size()});
  append_quoted(name);
  text_ += ':';
}

std::string JsonWriter::take() {
  if (!levels_.empty()) misuse(path(), "not ended");
  if (text_.empty()) misuse(path(), "nothing was written");
  return std::exchange(text_, {});
}

void JsonWriter::before_value() {
  if (levels_.empty()) {
    if (!text_.empty()) misuse(path(), "a second value at the top");
    return;
  }
  Level& level = levels_.back();
  if (level.is_object) {
    if (!level.has_key) misuse(path(), "a value without a key");
    level.has_key = false;
  } else if (level.count++ > 0) {
    text_ += ',';
  }
}

void JsonWriter::begin(bool object, char bracket) {
  before_value();
  if (levels_.size() == kJsonDepth) throw JsonError(path() + ": deeper than " + std::to_string(kJsonDepth) + " levels");
  if (levels_.empty()) reserve();
  text_ += bracket;
  levels_.push_back({.is_object = object, .first_member = members_.size()});
}

// Enough for most tasks, so that the text seldom has to grow.
void JsonWriter::reserve() {
  text_.reserve(64);
  levels_.reserve(4);
  members_.reserve(8);
}

void JsonWriter::end(bool object, char bracket) {
  if (levels_.empty() || levels_.back().is_object != object) misuse(path(), "the end of something that was not begun");
  const Level level = levels_.back();
  if (level.has_key) misuse(path(), "a key without a value");
  if (!level.sorted) sort_members(level);
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(level.first_member), members_.end());
  levels_.pop_back();
  text_ += bracket;
}

void JsonWriter::sort_members(const Level& level) {
  struct Piece {
    std::string_view key;
    std::string_view text;
  };
  const std::string_view text = text_;
  std::vector<Piece> pieces;
  for (std::size_t i = level.first_member; i < members_.size(); ++i) {
    const std::size_t end = i + 1 < members_.size() ? members_[i + 1].begin - 1 : text.size();
    pieces.push_back({members_[i].key, text.substr(members_[i].begin, end - members_[i].begin)});
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.key < b.key; });

  std::string sorted;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0 && pieces[i].key == pieces[i - 1].key) {
      misuse(path(), "the key \"" + std::string{pieces[i].key} + "\" twice in one object");
    }
    if (i > 0) sorted += ',';
    sorted += pieces[i].text;
  }
  text_.replace(members_[level.first_member].begin, std::string::npos, sorted);
}

void JsonWriter::append_quoted(std::string_view value) {
  text_ += '"';
  if (std::all_of(value.begin(), value.end(), kIsPlain)) {
    text_ += value;
  } else {
    append_escaped(value);
  }
  text_ += '"';
}

void JsonWriter::append_escaped(std::string_view value) {
  if (const std::size_t at = base::invalid_utf8(value); at != std::string_view::npos) {
    throw JsonError(path() + ": text that is not UTF-8 (byte " + std::to_string(at) +
                    "); store binary data as hex or base64");
  }
  for (auto from = value.begin(); from != value.end();) {
    const auto stop = std::find_if(from, value.end(), kNeedsEscape);
    text_.append(from, stop);
    from = stop;
    if (from != value.end()) text_ += escaped(*from++);
  }
}

template <class T>
void JsonWriter::append_number(T value) {
  std::array<char, 32> digits;  // the longest double has 24, the longest integer 20
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text_.append(digits.data(), end);
}

template <class T>
void JsonWriter::append_finite(T value) {
  if (std::isnan(value)) throw JsonError(path() + ": NaN cannot be stored as JSON");
  if (std::isinf(value)) throw JsonError(path() + ": infinity cannot be stored as JSON");
  append_number(value == 0 ? T{0} : value);
}

std::string JsonWriter::path() const {
  std::string path = "$";
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i].count == 0) break;
    const std::size_t members_end = i + 1 < levels_.size() ? levels_[i + 1].first_member : members_.size();
    path +=
        levels_[i].is_object ? base::path_step(members_[members_end - 1].key) : base::path_step(levels_[i].count - 1);
  }
  return path;
}

void detail::sort_by_text(ItemsByText& items) {
  std::sort(items.begin(), items.end());
}

}  // namespace easyretry
