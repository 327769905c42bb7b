#pragma once
// Decides which addresses may be called. A user who can register a URL must not use it to reach what only this process
// can reach: this machine, the networks behind it, a cloud's credentials (SSRF). The check runs when a connection is
// made, with the actual address, so a name that resolves differently a moment later cannot bypass it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "webhook/address.h"
#include "webhook/destination.h"

namespace easyretry::webhook {

// Thread-safe.
class Guard {
 public:
  // Destinations that may be called besides the Internet, each for all ports or for one:
  //   10.1.2.3   10.0.0.0/8   10.0.0.0/8:8080   fd00::/8   [fd00::7]:8080   billing.internal   localhost:8080
  // A name allows the addresses it resolves to, but only on this machine or in a private network; 169.254.169.254 and
  // the like are allowed only by address. Throws std::invalid_argument with the entry and the correct form.
  explicit Guard(const std::vector<std::string>& allowed = {});

  // Why this address may not be called, and how to allow it; nullopt if it may. `host` is the host in the URL, in lower
  // case.
  std::optional<std::string> objection(const IpAddress& address, std::string_view host, std::uint16_t port) const;
  // The same of a destination whose addresses are known without a name server: an address, or localhost, of which one
  // allowed address is enough. Any other host is checked when it is called.
  std::optional<std::string> objection(const Destination& destination) const;

 private:
  struct Entry {
    std::optional<Network> network{};   // otherwise:
    std::string host{};                 // in lower case
    std::optional<std::uint16_t> port;  // nullopt: all
  };
  static Entry parse(std::string_view text);
  bool allows(const IpAddress& address, std::string_view host, std::uint16_t port, bool of_services) const;

  std::vector<Entry> allowed_;
};

}  // namespace easyretry::webhook
