#pragma once
// Which addresses may be called. Whoever may register a URL must not reach by it what only we can reach: this machine,
// the networks behind it, a cloud's credentials (SSRF). Asked at the moment of connecting, about the very address: a
// name that means something else a moment later gains nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "webhook/address.h"

namespace easyretry::webhook {

// Safe to use from any thread.
class Guard {
 public:
  // What may be called besides the Internet, each for all ports or for one:
  //   10.1.2.3   10.0.0.0/8   10.0.0.0/8:8080   fd00::/8   [fd00::7]:8080   billing.internal   localhost:8080
  // A name allows what it means as long as that is this machine or a private network; 169.254.169.254 and the like are
  // allowed by their numbers alone. Throws std::invalid_argument naming the entry and what would be right.
  explicit Guard(const std::vector<std::string>& allowed = {});

  // Why this address may not be called, and how to allow it. Nullopt: it may be. `host` is what the URL says, in lower
  // case.
  std::optional<std::string> objection(const IpAddress& address, std::string_view host, std::uint16_t port) const;

 private:
  struct Entry {
    std::optional<Network> network{};   // or:
    std::string host{};                 // in lower case
    std::optional<std::uint16_t> port;  // nullopt: all
  };
  static Entry parse(std::string_view text);
  bool allows(const IpAddress& address, std::string_view host, std::uint16_t port, bool of_services) const;

  std::vector<Entry> allowed_;
};

}  // namespace easyretry::webhook
