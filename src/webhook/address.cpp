#include "webhook/address.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace easyretry::webhook {
namespace {

constexpr std::array<std::uint8_t, 12> kV4Prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr int kV4PrefixBits = 96;
constexpr int kAllBits = 128;

IpAddress mapped(const void* four_bytes) {
  IpAddress address;
  std::copy(kV4Prefix.begin(), kV4Prefix.end(), address.bytes.begin());
  std::memcpy(address.bytes.data() + kV4Prefix.size(), four_bytes, 4);
  return address;
}

bool bit(const IpAddress& address, int number) {
  const auto index = static_cast<unsigned>(number);
  return (address.bytes[index / 8] >> (7 - index % 8) & 1) != 0;
}

void clear_from(IpAddress& address, int first_bit) {
  for (int number = first_bit; number < kAllBits; ++number) {
    const auto index = static_cast<unsigned>(number);
    address.bytes[index / 8] &= static_cast<std::uint8_t>(~(0x80U >> index % 8));
  }
}

[[noreturn]] void refuse_network(std::string_view text, const std::string& why) {
  throw std::invalid_argument("network \"" + std::string{text} + "\": " + why);
}

int parse_prefix(std::string_view digits, int most, std::string_view text) {
  int prefix = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (error != std::errc{} || end != digits.data() + digits.size() || prefix < 0 || prefix > most) {
    refuse_network(text, "after the / there must be a number from 0 to " + std::to_string(most));
  }
  return prefix;
}

constexpr std::size_t kLongestHost = 253;  // RFC 1035

bool is_of_a_label(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

bool IpAddress::is_v4() const {
  return std::equal(kV4Prefix.begin(), kV4Prefix.end(), bytes.begin());
}

std::optional<IpAddress> parse_address(std::string_view text) {
  const std::string ended{text};
  if (ended.find('\0') != std::string::npos) return std::nullopt;
  in_addr four{};
  if (inet_pton(AF_INET, ended.c_str(), &four) == 1) return mapped(&four);
  IpAddress six;
  if (inet_pton(AF_INET6, ended.c_str(), six.bytes.data()) == 1) return six;
  return std::nullopt;
}

std::optional<IpAddress> address_of(const sockaddr& socket_address) {
  if (socket_address.sa_family == AF_INET) {
    return mapped(&reinterpret_cast<const sockaddr_in&>(socket_address).sin_addr);
  }
  if (socket_address.sa_family != AF_INET6) return std::nullopt;
  IpAddress six;
  std::memcpy(six.bytes.data(), &reinterpret_cast<const sockaddr_in6&>(socket_address).sin6_addr, six.bytes.size());
  return six;
}

std::string to_string(const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool four = address.is_v4();
  inet_ntop(four ? AF_INET : AF_INET6, address.bytes.data() + (four ? kV4Prefix.size() : 0), text.data(), text.size());
  return text.data();
}

bool Network::contains(const IpAddress& address) const {
  if (first.is_v4() != address.is_v4()) return false;
  for (int number = 0; number < bits; ++number) {
    if (bit(first, number) != bit(address, number)) return false;
  }
  return true;
}

Network parse_network(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) refuse_network(text, "is neither an address nor a network; write 10.1.2.3, 10.0.0.0/8 or fd00::/8");
  if (slash == std::string_view::npos) return {*address, kAllBits};
  const int unwritten = address->is_v4() ? kV4PrefixBits : 0;
  Network network{*address, unwritten + parse_prefix(text.substr(slash + 1), kAllBits - unwritten, text)};
  clear_from(network.first, network.bits);
  if (network.first != *address)
    refuse_network(text, "has bits set after its prefix; did you mean " + to_string(network) + "?");
  return network;
}

std::string to_string(const Network& network) {
  const int unwritten = network.first.is_v4() ? kV4PrefixBits : 0;
  return to_string(network.first) + "/" + std::to_string(network.bits - unwritten);
}

std::string lower_case(std::string_view ascii) {
  std::string text{ascii};
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return text;
}

bool is_host_name(std::string_view text) {
  if (text.empty() || text.size() > kLongestHost || text.front() == '.' || text.back() == '.') return false;
  return text.find("..") == std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return is_of_a_label(c) || c == '.'; });
}

}  // namespace easyretry::webhook
