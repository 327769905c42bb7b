#pragma once
// Random addresses for property tests.

#include <algorithm>
#include <string>

#include <rapidcheck.h>

#include "webhook/address.h"

namespace easyretry::webhook {

inline IpAddress address(const std::string& text) {
  return parse_address(text).value();
}

inline IpAddress v4(std::uint32_t number) {
  IpAddress made = address("0.0.0.0");
  for (std::size_t i = 0; i < 4; ++i) made.bytes[12 + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  return made;
}

inline IpAddress any_v4() {
  return v4(*rc::gen::arbitrary<std::uint32_t>());
}

inline IpAddress any_v6() {
  IpAddress made;
  for (auto& byte : made.bytes) byte = *rc::gen::arbitrary<std::uint8_t>();
  return made;
}

inline IpAddress any_address() {
  return *rc::gen::arbitrary<bool>() ? any_v4() : any_v6();
}

inline IpAddress with_flipped(IpAddress address, int bit) {
  address.bytes[static_cast<std::size_t>(bit / 8)] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
  return address;
}

inline IpAddress with_zeros_from(IpAddress address, int first_bit) {
  for (int bit = first_bit; bit < 128; ++bit) {
    address.bytes[static_cast<std::size_t>(bit / 8)] &= static_cast<std::uint8_t>(~(0x80 >> bit % 8));
  }
  return address;
}

// A random address in the network.
inline IpAddress any_of(const Network& network) {
  IpAddress made = any_v6();
  for (int bit = 0; bit < network.bits; ++bit) {
    const auto at = static_cast<std::size_t>(bit / 8);
    const auto mask = static_cast<std::uint8_t>(0x80 >> bit % 8);
    made.bytes[at] = static_cast<std::uint8_t>((made.bytes[at] & ~mask) | (network.first.bytes[at] & mask));
  }
  return made;
}

}  // namespace easyretry::webhook
