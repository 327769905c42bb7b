#pragma once
// Where a URL points. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "webhook/address.h"

namespace easyretry::webhook {

struct Destination {
  bool tls = false;
  std::string host{};  // in lower case, without brackets
  std::uint16_t port = 0;
  std::optional<IpAddress> address{};  // if the host is an address
  std::string shown{};                 // for errors and logs: without the path, which may be a secret

  // "hooks.example:443", "[2001:db8::1]:8080"
  std::string server() const;
};

// Accepts http and https only. Throws std::invalid_argument, without the URL in its text, for an invalid URL, for a
// user or password in it (they would appear in every log; sign calls instead), and for characters outside ASCII.
Destination parse_destination(std::string_view url);

}  // namespace easyretry::webhook
