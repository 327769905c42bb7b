#include "cluster/open_membership.h"

#include <charconv>
#include <stdexcept>
#include <utility>

#include "base/url.h"
#include "cluster/fixed_membership.h"
#include "cluster/nacos_membership.h"
#include "cluster/store_membership.h"

namespace easyretry::cluster {
namespace {

constexpr std::string_view kFixed = "static:";
constexpr std::string_view kNacos = "nacos:";

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument(
      "membership is \"" + base::without_password(text) +
      "\"; write store (instances find each other in the store), alone, static:2/8 (this one is the "
      "third of eight, counted from 0), or nacos://user:password@host:8848/service");
}

std::optional<std::size_t> number(std::string_view digits) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

MembershipChoice nacos_choice(std::string_view url) try {
  return {.kind = MembershipChoice::Kind::nacos, .service = nacos::parse_service_url(url)};
} catch (const std::invalid_argument& why) {
  throw std::invalid_argument(std::string{"membership is "} + why.what());
}

}  // namespace

MembershipChoice parse_membership(std::string_view text) {
  if (text == "store") return {.kind = MembershipChoice::Kind::store};
  if (text == "alone") return {.kind = MembershipChoice::Kind::alone};
  if (text.starts_with(kNacos)) return nacos_choice(text);
  if (!text.starts_with(kFixed)) refuse(text);
  const std::string_view place = text.substr(kFixed.size());
  const auto slash = place.find('/');
  if (slash == std::string_view::npos) refuse(text);
  const auto index = number(place.substr(0, slash));
  const auto members = number(place.substr(slash + 1));
  if (!index || !members || *members > kMostMembers || *index >= *members) refuse(text);
  return {.kind = MembershipChoice::Kind::fixed, .index = *index, .members = *members};
}

// Whoever shares no store has all of its work to do alone.
void require_shared_store(const MembershipChoice& choice, bool shared) {
  if (shared || choice.kind != MembershipChoice::Kind::nacos) return;
  throw std::invalid_argument(
      "membership is nacos, but instances cannot share this store; write alone, or leave it out");
}

std::unique_ptr<Membership> open_membership(MembershipChoice choice, storage::Store& store, Joiner joiner) {
  require_shared_store(choice, store.info().shared);
  switch (choice.kind) {
    case MembershipChoice::Kind::alone: return nullptr;
    case MembershipChoice::Kind::fixed:
      return std::make_unique<FixedMembership>(choice.index, choice.members, joiner.node);
    case MembershipChoice::Kind::nacos:
      if (joiner.log) choice.service.client.log = std::move(joiner.log);
      return std::make_unique<NacosMembership>(std::move(choice.service),
                                               Company{std::move(joiner.space), store.info().total_shards},
                                               std::move(joiner.node));
    case MembershipChoice::Kind::store: break;
  }
  if (!store.info().shared) return nullptr;
  return std::make_unique<StoreMembership>(store, std::move(joiner.space), std::move(joiner.node), joiner.lease);
}

}  // namespace easyretry::cluster
