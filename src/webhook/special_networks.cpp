#include "webhook/special_networks.h"

#include <algorithm>
#include <vector>

namespace easyretry::webhook {
namespace {

constexpr bool kOfServices = true;
constexpr bool kOfNoServices = false;

// IANA's registries of special-purpose addresses, and two more: what is not global unicast, and a public address of
// Azure's that gives credentials to whoever asks from inside. The first that contains an address is the one.
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
      {parse_network("2001::/23"), "reserved for protocols", kOfNoServices},  // Teredo, too, which hides IPv4 addresses
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

}  // namespace

const SpecialNetwork* special_network(const IpAddress& address) {
  if (nat64().contains(address)) return special_network(embedded_v4(address));
  const auto& all = special_networks();
  const auto found = std::ranges::find_if(all, [&](const auto& special) { return special.network.contains(address); });
  if (found != all.end()) return &*found;
  return is_global_unicast(address) ? nullptr : &outside_global_unicast();
}

}  // namespace easyretry::webhook
