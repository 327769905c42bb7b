#pragma once
// The bytes that this process and the scripts exchange, and those that are stored. Records of fixed size are the
// structs of record_layout.def, in namespace layout; Packer and Unpacker do what is around them.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <easyretry/task.h>

#include "task/task_key.h"

namespace easyretry::storage::redis {

static_assert(std::endian::native == std::endian::little);

// Times are exact up to 2^53 ms, which is in the year 287,396. Beyond that are only the two ends of time.
inline double to_double(std::int64_t ms) {
  return static_cast<double>(ms);
}
inline std::int64_t to_millis(double ms) {
  constexpr double kEnd = 0x1p63;
  if (std::isnan(ms)) return 0;
  if (ms >= kEnd) return std::numeric_limits<std::int64_t>::max();
  if (ms <= -kEnd) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(ms);
}
inline TimePoint to_time(double ms) {
  return TimePoint{Millis{to_millis(ms)}};
}

// The types of record_layout.def: bytes without padding, which convert from and to values.
namespace types {

template <class T>
class Number {
 public:
  Number() = default;
  template <class V>
  requires std::is_arithmetic_v<V> Number(V value) {  // NOLINT: implicit, so that a field is assigned like a number
    const auto converted = static_cast<T>(value);
    std::memcpy(bytes_.data(), &converted, sizeof converted);
  }
  operator T() const {  // NOLINT: the same
    T value{};
    std::memcpy(&value, bytes_.data(), sizeof value);
    return value;
  }

 private:
  std::array<char, sizeof(T)> bytes_{};
};

class StoredTime {
 public:
  StoredTime() = default;
  StoredTime(TimePoint value) : ms_(to_double(value.time_since_epoch().count())) {}  // NOLINT: the same
  operator TimePoint() const { return to_time(ms_); }                                // NOLINT: the same

 private:
  Number<double> ms_{};
};

class StoredMillis {
 public:
  StoredMillis() = default;
  StoredMillis(Millis value) : ms_(to_double(value.count())) {}  // NOLINT: the same

 private:
  Number<double> ms_{};
};

class StoredId {
 public:
  StoredId() = default;
  StoredId(TaskId value) : big_endian_(__builtin_bswap64(static_cast<std::uint64_t>(value))) {}  // NOLINT: the same
  operator TaskId() const {                                                                      // NOLINT: the same
    return TaskId{static_cast<std::int64_t>(__builtin_bswap64(big_endian_))};
  }

 private:
  Number<std::uint64_t> big_endian_{};
};

using u8 = Number<std::uint8_t>;
using u16 = Number<std::uint16_t>;
using u32 = Number<std::uint32_t>;
using i32 = Number<std::int32_t>;
using f64 = Number<double>;
using time = StoredTime;
using millis = StoredMillis;
using id = StoredId;
using half_id = std::array<char, 4>;
using digest = task::KeyDigest;
using digits16 = std::array<char, 16>;

}  // namespace types

namespace layout {

constexpr unsigned value(int number) {
  return static_cast<unsigned>(number);
}
constexpr double value(double number) {
  return number;
}
constexpr char value(char letter) {
  return letter;
}
constexpr std::string_view value(const char* text) {
  return text;
}

#define RECORD(name) struct name {
#define FIELD(name, type) types::type name{};
#define END_RECORD() \
  }                  \
  ;
#define VALUES(name) namespace name {
#define VALUE(name, literal) inline constexpr auto name = value(literal);
#define END_VALUES() }
#include "storage/redis/record_layout.def"
#undef RECORD
#undef FIELD
#undef END_RECORD
#undef VALUES
#undef VALUE
#undef END_VALUES

}  // namespace layout

template <class Record>
std::string_view bytes_of(const Record& record) {
  static_assert(std::is_trivially_copyable_v<Record> && alignof(Record) == 1);
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

class Packer {
 public:
  template <class T>
  Packer& number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Packer& u8(unsigned value) { return number(static_cast<std::uint8_t>(value)); }
  template <class Record>
  Packer& record(const Record& value) {
    return bytes(bytes_of(value));
  }
  Packer& bytes(std::string_view value) {
    out_.append(value);
    return *this;
  }
  // Seven bits per byte, the lowest first.
  Packer& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) u8(static_cast<unsigned>(value & 0x7f) | 0x80);
    return u8(static_cast<unsigned>(value));
  }
  Packer& text(std::string_view value) { return varint(value.size()).bytes(value); }

  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Bytes that are missing at the end read as 0 and "".
class Unpacker {
 public:
  explicit Unpacker(std::string_view from) : from_(from) {}

  template <class T>
  T number() {
    T value{};
    const std::string_view raw = bytes(sizeof value);
    if (raw.size() == sizeof value) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  unsigned u8() { return number<std::uint8_t>(); }
  template <class Record>
  Record record() {
    static_assert(std::is_trivially_copyable_v<Record> && alignof(Record) == 1);
    Record value{};
    const std::string_view raw = bytes(sizeof value);
    if (!raw.empty()) std::memcpy(&value, raw.data(), raw.size());
    return value;
  }
  std::string_view bytes(std::size_t size) {
    const std::string_view taken = from_.substr(0, size);
    from_.remove_prefix(taken.size());
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !from_.empty(); shift += 7) {
      const unsigned byte = u8();
      value |= std::uint64_t{byte & 0x7f} << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  std::string_view text() { return bytes(static_cast<std::size_t>(varint())); }
  std::string_view rest() const { return from_; }
  bool empty() const { return from_.empty(); }

 private:
  std::string_view from_;
};

inline std::string id_bytes(TaskId id) {
  return std::string{bytes_of(types::id{id})};
}

}  // namespace easyretry::storage::redis
