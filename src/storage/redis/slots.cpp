#include "storage/redis/slots.h"

namespace easyretry::storage::redis {
namespace {

// CRC-16/XMODEM, as the cluster specification has it.
constexpr unsigned kPolynomial = 0x1021;

bool is_in_the_middle(Slot slot, Slot from, Slot until) {
  const Slot margin = (until - from) / 4;
  return slot >= from + margin && slot < until - margin;
}

}  // namespace

Slot slot_of(std::string_view tag) {
  unsigned crc = 0;
  for (const char byte : tag) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(byte)) << 8U;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000U) != 0 ? crc << 1U ^ kPolynomial : crc << 1U;
    crc &= 0xffffU;
  }
  return static_cast<Slot>(crc % kSlots);
}

// No prefix has a ~, so that no other store's tag is the same.
std::vector<std::string> spread_tags(std::string_view prefix, int count) {
  std::vector<std::string> tags;
  for (int i = 0; i < count; ++i) {
    const std::string numbered = std::string{prefix} + "." + std::to_string(i) + "~";
    const Slot from = i * kSlots / count;
    const Slot until = (i + 1) * kSlots / count;
    int salt = 0;
    while (!is_in_the_middle(slot_of(numbered + std::to_string(salt)), from, until)) ++salt;
    tags.push_back(numbered + std::to_string(salt));
  }
  return tags;
}

}  // namespace easyretry::storage::redis
