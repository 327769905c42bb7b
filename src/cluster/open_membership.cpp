#include "cluster/open_membership.h"

#include <charconv>
#include <stdexcept>
#include <utility>

#include "cluster/fixed_membership.h"
#include "cluster/store_membership.h"

namespace easyretry::cluster {
namespace {

constexpr std::string_view kFixed = "static:";

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument("membership is \"" + std::string{text} +
                              "\"; write store (instances meet in the store), alone, or static:2/8 (this one is the "
                              "third of eight, counted from 0)");
}

std::optional<std::size_t> number(std::string_view digits) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

MembershipChoice parse_membership(std::string_view text) {
  if (text == "store") return {.kind = MembershipChoice::Kind::store};
  if (text == "alone") return {.kind = MembershipChoice::Kind::alone};
  if (!text.starts_with(kFixed)) refuse(text);
  const std::string_view place = text.substr(kFixed.size());
  const auto slash = place.find('/');
  if (slash == std::string_view::npos) refuse(text);
  const auto index = number(place.substr(0, slash));
  const auto members = number(place.substr(slash + 1));
  if (!index || !members || *members > kMostMembers || *index >= *members) refuse(text);
  return {.kind = MembershipChoice::Kind::fixed, .index = *index, .members = *members};
}

std::unique_ptr<Membership> open_membership(const MembershipChoice& choice, storage::Store& store, std::string space,
                                            std::string node, Millis lease) {
  switch (choice.kind) {
    case MembershipChoice::Kind::alone: return nullptr;
    case MembershipChoice::Kind::fixed:
      return std::make_unique<FixedMembership>(choice.index, choice.members, std::move(node));
    case MembershipChoice::Kind::store: break;
  }
  if (!store.info().shared) return nullptr;
  return std::make_unique<StoreMembership>(store, std::move(space), std::move(node), lease);
}

}  // namespace easyretry::cluster
