#pragma once
// The wire format of protobuf, as far as OTLP needs it: https://protobuf.dev/programming-guides/encoding. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace easyretry::trace {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2 };

// One message: its fields, in the order in which they were added.
class WireMessage {
 public:
  void number(int field, std::uint64_t value) {
    tag(field, WireType::varint);
    varint(value);
  }

  void fixed64(int field, std::uint64_t value) {
    tag(field, WireType::fixed64);
    for (int byte = 0; byte < 8; ++byte, value >>= 8) bytes_.push_back(static_cast<char>(value & 0xff));
  }

  void bytes(int field, std::string_view value) {
    tag(field, WireType::bytes);
    varint(value.size());
    bytes_.append(value);
  }

  void message(int field, const WireMessage& value) { bytes(field, value.bytes_); }

  std::string take() { return std::move(bytes_); }

 private:
  void tag(int field, WireType type) {
    varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
  }

  // Seven bits a byte, the lowest first; the highest bit says that more follow.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>((value & 0x7f) | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

struct WireField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;   // of a varint or fixed64
  std::string_view bytes{};  // otherwise
};

// Reads the fields of a message.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  // Nullopt: the end, or the rest is broken or of a type that is not listed above.
  std::optional<WireField> next() {
    const auto tag = varint();
    if (!tag) return std::nullopt;
    WireField field{.number = *tag >> 3};
    switch (static_cast<WireType>(*tag & 7)) {
      case WireType::varint: return with_value(field, varint());
      case WireType::fixed64: return with_value(field, fixed64());
      case WireType::bytes: return with_bytes(field, varint());
    }
    return std::nullopt;
  }

 private:
  static std::optional<WireField> with_value(WireField field, std::optional<std::uint64_t> value) {
    if (!value) return std::nullopt;
    field.value = *value;
    return field;
  }

  std::optional<WireField> with_bytes(WireField field, std::optional<std::uint64_t> size) {
    if (!size || *size > rest_.size()) return std::nullopt;
    field.bytes = rest_.substr(0, *size);
    rest_.remove_prefix(*size);
    return field;
  }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  std::optional<std::uint64_t> fixed64() {
    if (rest_.size() < 8) return std::nullopt;
    std::uint64_t value = 0;
    for (int byte = 7; byte >= 0; --byte)
      value = value << 8 | static_cast<unsigned char>(rest_[static_cast<std::size_t>(byte)]);
    rest_.remove_prefix(8);
    return value;
  }

  std::string_view rest_;
};

}  // namespace easyretry::trace
