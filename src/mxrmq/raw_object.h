#pragma once
// A JSON object that is edited as text: everything else stays as it is, byte for byte. A parsed tree would round
// numbers that it cannot represent.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace easyretry::mxrmq {

inline constexpr std::size_t kDeepest = 200;  // levels; Python has the same limit

// Whether the text is one JSON value. Unlike a parser that converts numbers, it accepts numbers of any size: Python
// writes integers with all their digits.
bool is_json(std::string_view text);

class RawObject {
 public:
  // Throws std::invalid_argument if the text is not one JSON object.
  explicit RawObject(std::string_view text);

  // The text of the value. If a key appears twice the last one counts, as in Python.
  std::optional<std::string_view> find(std::string_view key) const;
  // Adds a missing key at the end.
  void set(std::string_view key, std::string_view value);
  void erase(std::string_view key);

  const std::string& text() const { return text_; }

 private:
  struct Member {
    std::size_t begin = 0;  // start of the key
    std::size_t value = 0;
    std::size_t end = 0;
  };
  std::optional<Member> locate(std::string_view key) const;

  std::string text_;
};

}  // namespace easyretry::mxrmq
