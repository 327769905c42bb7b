#pragma once
// IP addresses, networks and host names, as people write them. Pure.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;

namespace easyretry::webhook {

// 1.2.3.4 is stored as ::ffff:1.2.3.4. The kernel treats both the same, so the second form must not bypass a check.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  bool is_v4() const;
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

// Four decimal numbers, or IPv6 without brackets and zone. Nullopt for anything else, including 127.1 and 0x7f000001.
std::optional<IpAddress> parse_address(std::string_view text);
// Nullopt: neither IPv4 nor IPv6.
std::optional<IpAddress> address_of(const sockaddr& socket_address);
std::string to_string(const IpAddress& address);

// Covers one address family: ::/0 contains no IPv4 address.
struct Network {
  IpAddress first;
  int bits = 128;  // the length of the prefix out of 128: 104 for 10.0.0.0/8

  bool contains(const IpAddress& address) const;
  friend bool operator==(const Network&, const Network&) = default;
};

// 10.0.0.0/8, fd00::/8, or one address. Throws std::invalid_argument with the text and the correct form, also if bits
// after the prefix are set: 10.0.0.1/8 is ambiguous.
Network parse_network(std::string_view text);
std::string to_string(const Network& network);

std::string lower_case(std::string_view ascii);

// Letters, digits, dashes, underscores and single dots between them. The final dot that DNS allows is rejected, because
// a name would have two spellings.
bool is_host_name(std::string_view text);

}  // namespace easyretry::webhook
