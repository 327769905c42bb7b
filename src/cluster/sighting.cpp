#include "cluster/sighting.h"

#include <condition_variable>
#include <mutex>

#include "cluster/fixed_membership.h"
#include "cluster/nacos_roll.h"
#include "nacos/naming_client.h"

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;

constexpr Millis kForAList = 10s;
constexpr Millis kForGrpc = 3s;  // then HTTP is tried as well

TimePoint wall_clock() {
  return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
}

Result<Sighting> look_in_store(storage::Store& store, const std::string& space) {
  auto seen = store.members(space);
  if (!seen) return tl::make_unexpected(seen.error());
  return Sighting{.roll = {std::move(seen->members)}, .source = "store", .now = seen->now};
}

// The newest list, and when it came.
class Newest {
 public:
  void hear(const nacos::ServiceView& view) {
    {
      const std::lock_guard lock{mutex_};
      view_ = view;
      at_ = std::chrono::steady_clock::now();
    }
    heard_.notify_all();
  }
  std::optional<nacos::ServiceView> wait() {
    std::unique_lock lock{mutex_};
    heard_.wait_for(lock, kForAList, [this] { return view_.has_value(); });
    return view_;
  }
  Millis age() const {
    const std::lock_guard lock{mutex_};
    return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - at_);
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable heard_;
  std::optional<nacos::ServiceView> view_;
  Instant at_{};
};

Result<Sighting> look_in_nacos(nacos::ServiceUrl url, const Company& company) {
  url.client.timings.fallback = kForGrpc;
  url.client.log = [](LogLevel, std::string_view) {};  // the error says it
  Newest newest;
  nacos::NamingClient client{url.client};
  const auto subscription = client.subscribe(
      url.service, [&](const nacos::ServiceView& view) { newest.hear(view); }, url.cluster);
  const auto view = newest.wait();
  const nacos::Status status = client.status();
  if (!view) {
    return fail(Errc::unavailable, "nacos.members",
                status.last_trouble ? to_string(*status.last_trouble) : "no answer from " + status.server);
  }
  return Sighting{.roll = call_roll(*view, company),
                  .source = "nacos " + status.server + ", " + to_string(url.service),
                  .age = newest.age(),
                  .now = wall_clock()};
}

}  // namespace

Result<Sighting> look(const MembershipChoice& choice, storage::Store& store, const std::string& space) {
  switch (choice.kind) {
    case MembershipChoice::Kind::store: return look_in_store(store, space);
    case MembershipChoice::Kind::nacos: return look_in_nacos(choice.service, {space, store.info().total_shards});
    case MembershipChoice::Kind::alone: break;
    case MembershipChoice::Kind::fixed: {
      auto roll = FixedMembership{choice.index, choice.members, ""}.refresh({});
      return Sighting{.roll = std::move(*roll), .source = "static", .now = wall_clock()};
    }
  }
  return Sighting{.roll = {}, .source = "alone", .now = wall_clock()};
}

}  // namespace easyretry::cluster
