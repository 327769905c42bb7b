#include "cluster/membership.h"

#include <cerrno>
#include <charconv>
#include <optional>

#include <signal.h>
#include <unistd.h>

#include "base/random.h"

namespace easyretry::cluster {
namespace {

struct Place {
  std::string_view host;
  pid_t process = 0;
};

std::optional<Place> place_of(std::string_view node) {
  const auto last = node.rfind(':');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const auto first = node.rfind(':', last - 1);
  if (first == std::string_view::npos) return std::nullopt;
  const std::string_view digits = node.substr(first + 1, last - first - 1);
  Place place{.host = node.substr(0, first)};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place.process);
  if (error != std::errc{} || end != digits.data() + digits.size() || place.process <= 0) return std::nullopt;
  return place;
}

bool runs(pid_t process) {
  return kill(process, 0) == 0 || errno != ESRCH;
}

}  // namespace

std::string make_node() {
  char host[64] = "unknown";
  gethostname(host, sizeof host - 1);
  return std::string{host} + ":" + std::to_string(getpid()) + ":" + std::to_string(base::random_seed() % 1'000'000'007);
}

bool died_here(std::string_view node, std::string_view self) {
  const auto theirs = place_of(node);
  const auto ours = place_of(self);
  if (!theirs || !ours || theirs->host != ours->host) return false;
  return theirs->process != ours->process && !runs(theirs->process);
}

}  // namespace easyretry::cluster
