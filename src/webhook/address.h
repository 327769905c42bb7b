#pragma once
// IP addresses and networks, as people write them. Pure.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;

namespace easyretry::webhook {

// 1.2.3.4 is kept as ::ffff:1.2.3.4: to the kernel both are the same, so whoever writes the second gets no further than
// with the first.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  bool is_v4() const;
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

// Four decimal numbers, or IPv6 without brackets and zone. Nullopt for all else, also for 127.1 and 0x7f000001.
std::optional<IpAddress> parse_address(std::string_view text);
// Nullopt: neither IPv4 nor IPv6.
std::optional<IpAddress> address_of(const sockaddr& socket_address);
std::string to_string(const IpAddress& address);

// Of one family: ::/0 has no IPv4 address in it.
struct Network {
  IpAddress first;
  int bits = 128;  // of all 128 that are fixed: 104 for 10.0.0.0/8

  bool contains(const IpAddress& address) const;
  friend bool operator==(const Network&, const Network&) = default;
};

// 10.0.0.0/8, fd00::/8, or one address. Throws std::invalid_argument naming the text and what would be right, also
// where bits are set behind the prefix: 10.0.0.1/8 could mean two things.
Network parse_network(std::string_view text);
std::string to_string(const Network& network);

}  // namespace easyretry::webhook
