#pragma once
// Addresses that are not just somewhere on the Internet. Pure.

#include <string_view>

#include "webhook/address.h"

namespace easyretry::webhook {

struct SpecialNetwork {
  Network network;
  std::string_view what;  // "a private network"
  // Where one's own services are. All others hold what nobody means to call by a name, such as the credentials that a
  // cloud hands out at 169.254.169.254.
  bool of_services;
};

// Nullptr: public. An address that NAT64 (64:ff9b::/96) translates is what the IPv4 address in it is.
const SpecialNetwork* special_network(const IpAddress& address);

}  // namespace easyretry::webhook
