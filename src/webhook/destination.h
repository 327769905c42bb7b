#pragma once
// Where a URL leads. Pure.

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
  std::optional<IpAddress> address{};  // where the host is one
  std::string shown{};                 // for errors and logs: without what is behind the host, which may be a secret

  // "hooks.example:443", "[2001:db8::1]:8080"
  std::string server() const;
};

// http and https alone. Throws std::invalid_argument, without the URL in its text, for what cannot be read, for a user
// or password in it (it would stand in every log; sign calls instead), and for characters that are not ASCII.
Destination parse_destination(std::string_view url);

}  // namespace easyretry::webhook
