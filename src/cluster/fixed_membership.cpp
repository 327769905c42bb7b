#include "cluster/fixed_membership.h"

namespace easyretry::cluster {
namespace {

// In the order of the places, which is that of the texts.
std::string place(std::size_t index) {
  const std::string digits = std::to_string(index);
  return "#" + std::string(4 - digits.size(), '0') + digits;
}

}  // namespace

FixedMembership::FixedMembership(std::size_t index, std::size_t members, const std::string& node)
    : traits_{.source = "static",
              .self = place(index) + " " + node,
              .tells = false,
              .refresh = std::chrono::hours{1},
              .notices_death = Millis::max()} {
  for (std::size_t i = 0; i < members; ++i) list_.push_back({.node = place(i)});
  list_[index].node = traits_.self;
}

}  // namespace easyretry::cluster
