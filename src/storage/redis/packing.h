#pragma once
// Bytes as the scripts have them: little-endian numbers, times as doubles, ids of 8 bytes big-endian. The formats are
// those of Lua's struct.pack in lua/*.lua.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include <easyretry/task.h>

namespace easyretry::storage::redis {

static_assert(std::endian::native == std::endian::little);

// Exact up to 2^53 ms, in the year 287,396; beyond are the ends of time.
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

class Packer {
 public:
  template <class T>
  Packer& number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Packer& u8(unsigned value) { return number(static_cast<std::uint8_t>(value)); }
  Packer& u16(unsigned value) { return number(static_cast<std::uint16_t>(value)); }
  Packer& u32(std::size_t value) { return number(static_cast<std::uint32_t>(value)); }
  Packer& i32(int value) { return number(static_cast<std::int32_t>(value)); }
  Packer& f64(double value) { return number(value); }
  Packer& time(TimePoint value) { return f64(to_double(value.time_since_epoch().count())); }
  Packer& millis(Millis value) { return f64(to_double(value.count())); }
  Packer& bytes(std::string_view value) {
    out_.append(value);
    return *this;
  }
  Packer& id(TaskId value) { return number(__builtin_bswap64(static_cast<std::uint64_t>(value))); }
  // Seven bits a byte, the lowest first.
  Packer& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) u8(static_cast<unsigned>(value & 0x7f) | 0x80);
    return u8(static_cast<unsigned>(value));
  }
  Packer& text(std::string_view value) { return varint(value.size()).bytes(value); }

  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// What is too short reads as 0 and "".
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
  unsigned u16() { return number<std::uint16_t>(); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  int i32() { return number<std::int32_t>(); }
  double f64() { return number<double>(); }
  TimePoint time() { return to_time(f64()); }
  TaskId id() { return TaskId{static_cast<std::int64_t>(__builtin_bswap64(number<std::uint64_t>()))}; }
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
  return Packer{}.id(id).take();
}

}  // namespace easyretry::storage::redis
