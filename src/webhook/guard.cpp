#include "webhook/guard.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace easyretry::webhook {
namespace {

[[noreturn]] void refuse_entry(std::string_view entry, const std::string& why) {
  throw std::invalid_argument("allowed destination \"" + std::string{entry} + "\": " + why +
                              "; write a host, an address or a network, and a port to allow only that one, such as "
                              "billing.internal:8080, 10.0.0.0/8 or [fd00::7]:8080");
}

std::uint16_t parse_port(std::string_view digits, std::string_view entry) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) {
    refuse_entry(entry, "a port must be a number from 1 to 65535");
  }
  return port;
}

struct Place {
  std::string_view where;
  std::optional<std::string_view> port{};
};

// An IPv6 address contains colons, so it can have a port only if it is in brackets.
Place split(std::string_view entry) {
  if (entry.starts_with('[')) {
    const auto end = entry.find(']');
    if (end == std::string_view::npos) refuse_entry(entry, "a [ without a ]");
    const std::string_view rest = entry.substr(end + 1);
    if (entry.substr(0, end).find(':') == std::string_view::npos)
      refuse_entry(entry, "only IPv6 addresses go in brackets");
    if (!rest.empty() && !rest.starts_with(':')) refuse_entry(entry, "after the ] only a : and a port may follow");
    return {entry.substr(1, end - 1), rest.empty() ? std::nullopt : std::optional{rest.substr(1)}};
  }
  const auto colon = entry.find(':');
  if (colon == std::string_view::npos || entry.find(':', colon + 1) != std::string_view::npos) return {entry};
  return {entry.substr(0, colon), entry.substr(colon + 1)};
}

bool looks_like_numbers(std::string_view where) {
  return where.find_first_of(":/") != std::string_view::npos || parse_address(where);
}

// A network that is not part of the public Internet.
struct SpecialNetwork {
  Network network;
  std::string_view what;  // "a private network"
  // Own services live here. The other networks hold what must not be reached by a name, such as the credentials that a
  // cloud serves at 169.254.169.254.
  bool of_services;
};

constexpr bool kOfServices = true;
constexpr bool kOfNoServices = false;

// IANA's registries of special-purpose addresses, and two more: everything that is not global unicast, and a public
// address of Azure that serves credentials inside its network. The first match counts.
const std::vector<SpecialNetwork>& special_networks() {
  static const std::vector<SpecialNetwork> all{
      {parse_network("127.0.0.0/8"), "this machine itself", kOfServices},
      {parse_network("10.0.0.0/8"), "a private network", kOfServices},
      {parse_network("172.16.0.0/12"), "a private network", kOfServices},
      {parse_network("192.168.0.0/16"), "a private network", kOfServices},
      {parse_network("100.64.0.0/10"), "a provider's internal network", kOfServices},
      {parse_network("0.0.0.0/8"), "not the address of a host", kOfNoServices},
      {parse_network("169.254.0.0/16"), "link-local, where clouds hand out credentials", kOfNoServices},
      {parse_network("168.63.129.16/32"), "Azure's platform", kOfNoServices},
      {parse_network("192.0.0.0/24"), "reserved for protocols", kOfNoServices},
      {parse_network("192.0.2.0/24"), "for documentation", kOfNoServices},
      {parse_network("198.51.100.0/24"), "for documentation", kOfNoServices},
      {parse_network("203.0.113.0/24"), "for documentation", kOfNoServices},
      {parse_network("192.88.99.0/24"), "for relays of 6to4", kOfNoServices},
      {parse_network("198.18.0.0/15"), "for benchmarks", kOfNoServices},
      {parse_network("224.0.0.0/4"), "multicast", kOfNoServices},
      {parse_network("240.0.0.0/4"), "reserved", kOfNoServices},
      {parse_network("::1/128"), "this machine itself", kOfServices},
      {parse_network("fc00::/7"), "a private network", kOfServices},
      {parse_network("::/128"), "not the address of a host", kOfNoServices},
      {parse_network("fe80::/10"), "link-local", kOfNoServices},
      {parse_network("ff00::/8"), "multicast", kOfNoServices},
      {parse_network("2001::/23"), "reserved for protocols",
       kOfNoServices},  // includes Teredo, which hides IPv4 addresses
      {parse_network("2001:db8::/32"), "for documentation", kOfNoServices},
      {parse_network("3fff::/20"), "for documentation", kOfNoServices},
      {parse_network("2002::/16"), "6to4, which hides an IPv4 address", kOfNoServices},
  };
  return all;
}

const Network& nat64() {
  static const Network well_known = parse_network("64:ff9b::/96");
  return well_known;
}

const SpecialNetwork& outside_global_unicast() {
  static const SpecialNetwork rest{parse_network("::/0"), "not global unicast", kOfNoServices};
  return rest;
}

bool is_global_unicast(const IpAddress& address) {
  static const Network six = parse_network("2000::/3");
  return address.is_v4() || six.contains(address);
}

IpAddress embedded_v4(const IpAddress& translated) {
  IpAddress four = *parse_address("0.0.0.0");
  std::copy(translated.bytes.end() - 4, translated.bytes.end(), four.bytes.end() - 4);
  return four;
}

// Nullptr: public. An address that NAT64 (64:ff9b::/96) translates is judged by the IPv4 address in it.
const SpecialNetwork* special_network(const IpAddress& address) {
  if (nat64().contains(address)) return special_network(embedded_v4(address));
  const auto& all = special_networks();
  const auto found = std::ranges::find_if(all, [&](const auto& special) { return special.network.contains(address); });
  if (found != all.end()) return &*found;
  return is_global_unicast(address) ? nullptr : &outside_global_unicast();
}

std::vector<IpAddress> known_addresses(const Destination& destination) {
  if (destination.address) return {*destination.address};
  if (destination.host != "localhost") return {};
  return {*parse_address("127.0.0.1"), *parse_address("::1")};
}

}  // namespace

Guard::Guard(const std::vector<std::string>& allowed) {
  std::ranges::transform(allowed, std::back_inserter(allowed_), parse);
}

Guard::Entry Guard::parse(std::string_view text) {
  const Place place = split(text);
  Entry entry;
  if (place.port) entry.port = parse_port(*place.port, text);
  if (looks_like_numbers(place.where)) {
    try {
      entry.network = parse_network(place.where);
    } catch (const std::invalid_argument& error) {
      refuse_entry(text, error.what());
    }
  } else {
    entry.host = lower_case(place.where);
    if (!is_host_name(entry.host)) refuse_entry(text, "is neither a host nor an address");
  }
  return entry;
}

std::optional<std::string> Guard::objection(const IpAddress& address, std::string_view host, std::uint16_t port) const {
  const SpecialNetwork* special = special_network(address);
  if (special == nullptr || allows(address, host, port, special->of_services)) return std::nullopt;
  const std::string number = to_string(address);
  std::string text = number + " may not be called: it is " + std::string{special->what} + " (" +
                     to_string(special->network) + "). If this is intended, add " + number;
  if (special->of_services && host != number) text.append(" or ").append(host);
  return text + " to server.may_call";
}

std::optional<std::string> Guard::objection(const Destination& destination) const {
  std::optional<std::string> first;
  for (const IpAddress& address : known_addresses(destination)) {
    auto one = objection(address, destination.host, destination.port);
    if (!one) return std::nullopt;
    if (!first) first = std::move(one);
  }
  return first;
}

bool Guard::allows(const IpAddress& address, std::string_view host, std::uint16_t port, bool of_services) const {
  return std::ranges::any_of(allowed_, [&](const Entry& entry) {
    if (entry.port && *entry.port != port) return false;
    return entry.network ? entry.network->contains(address) : of_services && entry.host == host;
  });
}

}  // namespace easyretry::webhook
