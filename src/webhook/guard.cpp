#include "webhook/guard.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "webhook/host_name.h"
#include "webhook/special_networks.h"

namespace easyretry::webhook {
namespace {

[[noreturn]] void refuse(std::string_view entry, const std::string& why) {
  throw std::invalid_argument("allowed destination \"" + std::string{entry} + "\": " + why +
                              "; write a host, an address or a network, and a port to allow only that one, such as "
                              "billing.internal:8080, 10.0.0.0/8 or [fd00::7]:8080");
}

std::uint16_t parse_port(std::string_view digits, std::string_view entry) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) {
    refuse(entry, "a port must be a number from 1 to 65535");
  }
  return port;
}

struct Place {
  std::string_view where;
  std::optional<std::string_view> port{};
};

// An IPv6 address has colons of its own, so it has a port only where brackets tell.
Place split(std::string_view entry) {
  if (entry.starts_with('[')) {
    const auto end = entry.find(']');
    if (end == std::string_view::npos) refuse(entry, "a [ without a ]");
    const std::string_view rest = entry.substr(end + 1);
    if (entry.substr(0, end).find(':') == std::string_view::npos) refuse(entry, "only IPv6 addresses go in brackets");
    if (!rest.empty() && !rest.starts_with(':')) refuse(entry, "after the ] only a : and a port may follow");
    return {entry.substr(1, end - 1), rest.empty() ? std::nullopt : std::optional{rest.substr(1)}};
  }
  const auto colon = entry.find(':');
  if (colon == std::string_view::npos || entry.find(':', colon + 1) != std::string_view::npos) return {entry};
  return {entry.substr(0, colon), entry.substr(colon + 1)};
}

bool looks_like_numbers(std::string_view where) {
  return where.find_first_of(":/") != std::string_view::npos || parse_address(where);
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
      refuse(text, error.what());
    }
  } else {
    entry.host = lower_case(place.where);
    if (!is_host_name(entry.host)) refuse(text, "is neither a host nor an address");
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
  return text + " to the allowed destinations";
}

bool Guard::allows(const IpAddress& address, std::string_view host, std::uint16_t port, bool of_services) const {
  return std::ranges::any_of(allowed_, [&](const Entry& entry) {
    if (entry.port && *entry.port != port) return false;
    return entry.network ? entry.network->contains(address) : of_services && entry.host == host;
  });
}

}  // namespace easyretry::webhook
