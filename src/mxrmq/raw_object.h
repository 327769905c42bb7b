#pragma once
// A JSON object that is changed as text: what is not touched stays as it is, byte for byte. A tree would round numbers
// that it cannot hold.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace easyretry::mxrmq {

class RawObject {
 public:
  // Throws std::invalid_argument for what is not one JSON object.
  explicit RawObject(std::string_view text);

  // The value as it is written. Of a key that is there twice the last one counts, as it does in Python.
  std::optional<std::string_view> find(std::string_view key) const;
  // A key that is not there is added at the end.
  void set(std::string_view key, std::string_view value);
  void erase(std::string_view key);

  const std::string& text() const { return text_; }

 private:
  struct Member {
    std::size_t begin = 0;  // of the key
    std::size_t value = 0;
    std::size_t end = 0;
  };
  std::optional<Member> locate(std::string_view key) const;

  std::string text_;
};

}  // namespace easyretry::mxrmq
