#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "cluster/nacos/nacos_membership.h"
#include "cluster/nacos/nacos_metadata.h"
#include "cluster/registry.h"
#include "nacos/naming_client.h"
#include "nacos/options.h"

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;

constexpr Millis kForAList = 10s;
constexpr Millis kForGrpc = 3s;  // then HTTP is tried as well

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

class NacosRegistry final : public Registry {
 public:
  explicit NacosRegistry(nacos::ServiceUrl url) : url_(std::move(url)) {}

  std::unique_ptr<Membership> join(SharedSettings settings, std::string node, LogSink log) const override {
    nacos::ServiceUrl url = url_;
    if (log) url.client.log = std::move(log);
    return std::make_unique<NacosMembership>(std::move(url), std::move(settings), std::move(node));
  }
  Result<MembersReport> list(const SharedSettings& settings) const override;

 private:
  const nacos::ServiceUrl url_;
};

Result<MembersReport> NacosRegistry::list(const SharedSettings& settings) const {
  nacos::ServiceUrl url = url_;
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
                       .now = std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now())};
}

}  // namespace

const RegistryPart* easyretry_nacos_registry() {
  static constexpr RegistryPart kPart{[](std::string_view url) -> std::shared_ptr<const Registry> {
    return std::make_shared<NacosRegistry>(nacos::parse_service_url(url));
  }};
  return &kPart;
}

}  // namespace easyretry::cluster
