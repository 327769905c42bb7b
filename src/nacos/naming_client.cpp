#include "nacos/naming_client.h"

#include <algorithm>
#include <atomic>

#include "nacos/grpc_naming.h"
#include "nacos/http_naming.h"

namespace easyretry::nacos {
namespace {

// Whether HTTP is needed: when gRPC has had no connection for a while. One thread only.
class GrpcIsAway {
 public:
  explicit GrpcIsAway(Millis patience) : patience_(patience) {}

  bool ask(bool connected) {
    const Instant now = std::chrono::steady_clock::now();
    if (connected) last_seen_ = now;
    return now - last_seen_ >= patience_;
  }

 private:
  const Millis patience_;
  Instant last_seen_ = std::chrono::steady_clock::now();
};

// Who asked for TLS gets nothing in the clear without having asked for that, too.
bool may_speak_http(const ClientOptions& options) {
  if (options.transport != Transport::automatic) return options.transport == Transport::http;
  return !options.tls || std::all_of(options.servers.begin(), options.servers.end(),
                                     [](const ServerAddress& server) { return server.https; });
}

bool runs(const NamingWay& way) {
  return way.status().state == State::running;
}

}  // namespace

class NamingClient::Impl {
 public:
  explicit Impl(ClientOptions options)
      : options_((validate(options), std::move(options))), courier_(options_.log), views_(courier_) {
    const auto number = [this] { return ++connections_; };
    if (options_.transport != Transport::http) grpc_ = std::make_unique<GrpcNaming>(options_, views_, number);
    if (may_speak_http(options_)) {
      http_ = std::make_unique<HttpNaming>(options_, views_, HttpNamingHooks{number, [this] { return wants_http(); }});
    }
  }

  // First, because a listener may be using the ways.
  ~Impl() { courier_.stop(); }

  // Every wish is known to both, so that either can take over; the one that has a server is waited for.
  void announce(const ServiceName& service, const Instance& instance) {
    each([&](NamingWay& way) { way.announce(service, instance); });
  }

  Result<void> register_instance(const ServiceName& service, const Instance& instance) try {
    return waiting(service, [&](NamingWay& way) { return way.announce(service, instance); });
  } catch (const JsonError& error) {
    return fail(Errc::invalid_argument, "nacos.InstanceRequest", error.what());
  }

  Result<void> deregister_instance(const ServiceName& service) {
    return waiting(service, [&](NamingWay& way) { return way.no_longer(service); });
  }

  Result<void> registration(const ServiceName& service) const { return carrier().standing(service); }

  Subscription subscribe(const ServiceName& service, OnView listener, std::string cluster) {
    const auto id = views_.add(service, std::move(cluster), std::move(listener));
    each([&](NamingWay& way) { way.subscribed(service); });
    return Subscription{[this, service, id] {
      if (!views_.remove(service, id)) return;
      each([&](NamingWay& way) { way.unsubscribed(service); });
    }};
  }

  Result<ServiceView> query(const ServiceName& service) { return carrier().query(service); }
  Status status() const { return carrier().status(); }

 private:
  void each(const auto& call) {
    if (grpc_) call(*grpc_);
    if (http_) call(*http_);
  }

  Result<void> waiting(const ServiceName& service, const auto& wish) {
    NamingWay& first = carrier();
    Wishes::Ticket ticket = 0;
    each([&](NamingWay& way) {
      const Wishes::Ticket given = wish(way);
      if (&way == &first) ticket = given;
    });
    return first.wait(service, ticket);
  }

  NamingWay& carrier() const {
    if (!grpc_ || (http_ && runs(*http_) && !runs(*grpc_))) return *http_;
    return *grpc_;
  }

  bool wants_http() { return !grpc_ || grpc_is_away_.ask(runs(*grpc_)); }

  // Fixed after construction
  const ClientOptions options_;

  std::atomic<std::uint64_t> connections_ = 0;
  GrpcIsAway grpc_is_away_{options_.timings.fallback};  // of HTTP's thread
  Courier courier_;
  ServiceViews views_;
  std::unique_ptr<NamingWay> grpc_;  // of the two at least one
  std::unique_ptr<NamingWay> http_;  // after gRPC, which it asks
};

NamingClient::NamingClient(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

NamingClient::~NamingClient() = default;

Result<void> NamingClient::register_instance(const ServiceName& service, const Instance& instance) {
  return impl_->register_instance(service, instance);
}

void NamingClient::announce(const ServiceName& service, const Instance& instance) {
  impl_->announce(service, instance);
}

Result<void> NamingClient::registration(const ServiceName& service) const {
  return impl_->registration(service);
}

Result<void> NamingClient::deregister_instance(const ServiceName& service) {
  return impl_->deregister_instance(service);
}

Subscription NamingClient::subscribe(const ServiceName& service, OnView listener, std::string cluster) {
  return impl_->subscribe(service, std::move(listener), std::move(cluster));
}

Result<ServiceView> NamingClient::query(const ServiceName& service) {
  return impl_->query(service);
}

Status NamingClient::status() const {
  return impl_->status();
}

}  // namespace easyretry::nacos
