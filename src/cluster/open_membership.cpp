#include "cluster/open_membership.h"

#include <charconv>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "base/url.h"
#include "cluster/membership.h"
#include "cluster/nacos_membership.h"
#include "cluster/nacos_metadata.h"
#include "cluster/store_membership.h"
#include "nacos/naming_client.h"

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kFixed = "static:";
constexpr std::string_view kNacos = "nacos:";
constexpr std::size_t kMostMembers = 4096;  // the largest possible number of shards
constexpr Millis kForAList = 10s;
constexpr Millis kForGrpc = 3s;  // then HTTP is tried as well

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

TimePoint wall_clock() {
  return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
}

Result<MembersReport> list_from_store(storage::Store& store, const std::string& space) {
  auto seen = store.members(space);
  if (!seen) return tl::make_unexpected(seen.error());
  return MembersReport{.list = {std::move(seen->members)}, .source = "store", .now = seen->now};
}

// The newest list, and when it arrived.
class NewestList {
 public:
  void set(const nacos::ServiceView& view) {
    {
      const std::lock_guard lock{mutex_};
      view_ = view;
      at_ = std::chrono::steady_clock::now();
    }
    arrived_.notify_all();
  }
  std::optional<nacos::ServiceView> wait() {
    std::unique_lock lock{mutex_};
    arrived_.wait_for(lock, kForAList, [this] { return view_.has_value(); });
    return view_;
  }
  Millis age() const {
    const std::lock_guard lock{mutex_};
    return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - at_);
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<nacos::ServiceView> view_;
  Instant at_{};
};

Result<MembersReport> list_from_nacos(nacos::ServiceUrl url, const SharedSettings& settings) {
  url.client.timings.fallback = kForGrpc;
  url.client.log = [](LogLevel, std::string_view) {};  // the returned error says it
  NewestList newest;
  nacos::NamingClient client{url.client};
  const auto subscription = client.subscribe(
      url.service, [&](const nacos::ServiceView& view) { newest.set(view); }, url.cluster);
  const auto view = newest.wait();
  const nacos::Status status = client.status();
  if (!view) {
    return fail(Errc::unavailable, "nacos.members",
                status.last_trouble ? to_string(*status.last_trouble) : "no answer from " + status.server);
  }
  return MembersReport{.list = read_members(*view, settings),
                       .source = "nacos " + status.server + ", " + to_string(url.service),
                       .age = newest.age(),
                       .now = wall_clock()};
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
              .tells = false,
              .refresh = std::chrono::hours{1},
              .notices_death = Millis::max()} {
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
  if (shared || choice.kind != MembershipChoice::Kind::nacos) return;
  throw std::invalid_argument(
      "membership is nacos, but instances cannot share this store; write alone, or leave it out");
}

std::unique_ptr<Membership> open_membership(MembershipChoice choice, storage::Store& store, JoiningInstance instance) {
  require_shared_store(choice, store.info().shared);
  switch (choice.kind) {
    case MembershipChoice::Kind::alone: return nullptr;
    case MembershipChoice::Kind::fixed:
      return std::make_unique<FixedMembership>(choice.index, choice.members, instance.node);
    case MembershipChoice::Kind::nacos:
      if (instance.log) choice.service.client.log = std::move(instance.log);
      return std::make_unique<NacosMembership>(std::move(choice.service),
                                               SharedSettings{std::move(instance.space), store.info().total_shards},
                                               std::move(instance.node));
    case MembershipChoice::Kind::store: break;
  }
  if (!store.info().shared) return nullptr;
  return std::make_unique<StoreMembership>(store, std::move(instance.space), std::move(instance.node), instance.lease);
}

Result<MembersReport> list_members(const MembershipChoice& choice, storage::Store& store, const std::string& space) {
  switch (choice.kind) {
    case MembershipChoice::Kind::store: return list_from_store(store, space);
    case MembershipChoice::Kind::nacos: return list_from_nacos(choice.service, {space, store.info().total_shards});
    case MembershipChoice::Kind::alone: break;
    case MembershipChoice::Kind::fixed: {
      auto list = FixedMembership{choice.index, choice.members, ""}.refresh({});
      return MembersReport{.list = std::move(*list), .source = "static", .now = wall_clock()};
    }
  }
  return MembersReport{.list = {}, .source = "alone", .now = wall_clock()};
}

}  // namespace easyretry::cluster
