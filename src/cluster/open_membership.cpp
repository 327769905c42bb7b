#include "cluster/open_membership.h"

#include <charconv>
#include <stdexcept>
#include <utility>

#include "base/part.h"
#include "base/url.h"
#include "cluster/membership.h"

namespace easyretry::cluster {
namespace {

constexpr std::string_view kFixed = "static:";
constexpr std::string_view kNacos = "nacos:";
constexpr std::size_t kMostMembers = 4096;  // the largest possible number of shards

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
  if (easyretry_nacos_registry == nullptr) {
    throw std::invalid_argument('"' + base::without_password(url) + "\": " + base::missing_part("Nacos", "nacos"));
  }
  return {.kind = MembershipChoice::Kind::registry, .registry = easyretry_nacos_registry()->open(url)};
} catch (const std::invalid_argument& why) {
  throw std::invalid_argument(std::string{"membership is "} + why.what());
}

TimePoint wall_clock() {
  return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
}

Result<MembersReport> list_from_store(storage::Store& store, const std::string& name_space) {
  auto seen = store.members(name_space);
  if (!seen) return tl::make_unexpected(seen.error());
  return MembersReport{.list = {std::move(seen->members)}, .source = "store", .now = seen->now};
}

// Padded, so that the names sort in the order of the places.
std::string place(std::size_t index) {
  const std::string digits = std::to_string(index);
  return "#" + std::string(4 - digits.size(), '0') + digits;
}

// A fixed list: this instance is the third of eight. No instance joins or leaves. If one is down, the sweep for overdue
// tasks serves its shards.
class FixedMembership final : public Membership {
 public:
  FixedMembership(std::size_t index, std::size_t members, const std::string& node);

  const Traits& traits() const override { return traits_; }
  // The handlers of the others are not known.
  Result<MemberList> refresh(const Announcement& /*announcement*/) override { return MemberList{list_}; }
  void leave() override {}

 private:
  std::vector<Member> list_;
  const Traits traits_;
};

FixedMembership::FixedMembership(std::size_t index, std::size_t members, const std::string& node)
    : traits_{.source = "static",
              .self = place(index) + " " + node,
              .pushes = false,
              .refresh = std::chrono::hours{1},
              .death_timeout = Millis::max()} {
  for (std::size_t i = 0; i < members; ++i) list_.push_back({.node = place(i)});
  list_[index].node = traits_.self;
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

// Without a shared store, each instance has to do all of its own work.
void require_shared_store(const MembershipChoice& choice, bool shared) {
  if (shared || choice.kind != MembershipChoice::Kind::registry) return;
  throw std::invalid_argument(
      "membership is nacos, but instances cannot share this store; write alone, or leave it out");
}

std::unique_ptr<Membership> open_membership(const MembershipChoice& choice, storage::Store& store,
                                            JoiningInstance instance) {
  require_shared_store(choice, store.info().shared);
  switch (choice.kind) {
    case MembershipChoice::Kind::alone: return nullptr;
    case MembershipChoice::Kind::fixed:
      return std::make_unique<FixedMembership>(choice.index, choice.members, instance.node);
    case MembershipChoice::Kind::registry:
      return choice.registry->join({std::move(instance.name_space), store.info().total_shards},
                                   std::move(instance.node), std::move(instance.log));
    case MembershipChoice::Kind::store: break;
  }
  if (!store.info().shared) return nullptr;
  return std::make_unique<StoreMembership>(store, std::move(instance.name_space), std::move(instance.node),
                                           instance.lease);
}

Result<MembersReport> list_members(const MembershipChoice& choice, storage::Store& store,
                                   const std::string& name_space) {
  switch (choice.kind) {
    case MembershipChoice::Kind::store: return list_from_store(store, name_space);
    case MembershipChoice::Kind::registry: return choice.registry->list({name_space, store.info().total_shards});
    case MembershipChoice::Kind::alone: break;
    case MembershipChoice::Kind::fixed: {
      auto list = FixedMembership{choice.index, choice.members, ""}.refresh({});
      return MembersReport{.list = std::move(*list), .source = "static", .now = wall_clock()};
    }
  }
  return MembersReport{.list = {}, .source = "alone", .now = wall_clock()};
}

}  // namespace easyretry::cluster
