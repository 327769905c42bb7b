#include "nacos/naming_client.h"

#include <algorithm>

#include "nacos/json_read.h"
#include "nacos/naming_messages.h"
#include "nacos/service_views.h"
#include "nacos/session.h"
#include "nacos/wishes.h"

namespace easyretry::nacos {
namespace {

Wishes::Key key_of(Wishes::Kind kind, const ServiceName& service) {
  return {kind, to_string(service)};
}

Instant now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

class NamingClient::Impl {
 public:
  explicit Impl(ClientOptions options)
      : options_((validate(options), std::move(options))),
        courier_(options_.log),
        views_(courier_),
        session_(options_, Module::naming, hooks()) {}

  // First, because a listener may be using the session.
  ~Impl() { courier_.stop(); }

  // Throws JsonError for what is no text.
  Wishes::Ticket announce(const ServiceName& service, const Instance& instance) {
    const auto ticket = wishes_.want(key_of(Wishes::Kind::registration, service),
                                     instance_request(options_.space, service, instance, InstanceChange::registered),
                                     instance_request(options_.space, service, instance, InstanceChange::deregistered));
    session_.wake();
    return ticket;
  }

  Result<void> registration(const ServiceName& service) const {
    return wishes_.standing(key_of(Wishes::Kind::registration, service));
  }

  Result<void> register_instance(const ServiceName& service, const Instance& instance) try {
    const auto ticket = announce(service, instance);
    return wishes_.wait(key_of(Wishes::Kind::registration, service), ticket, options_.timings.request);
  } catch (const JsonError& error) {
    return fail(Errc::invalid_argument, "nacos.InstanceRequest", error.what());
  }

  Result<void> deregister_instance(const ServiceName& service) {
    const auto key = key_of(Wishes::Kind::registration, service);
    const auto ticket = wishes_.no_longer(key);
    session_.wake();
    return wishes_.wait(key, ticket, options_.timings.request);
  }

  Subscription subscribe(const ServiceName& service, OnView listener, std::string cluster) {
    const auto id = views_.add(service, std::move(cluster), std::move(listener));
    const std::lock_guard lock{subscribing_};
    wish_subscription(service);
    return Subscription{[this, service, id] { unsubscribe(service, id); }};
  }

  Result<ServiceView> query(const ServiceName& service) try {
    const auto body = session_.ask(query_request(options_.space, service));
    if (!body) return tl::make_unexpected(body.error());
    ServiceView view = read_service_info(body->root()).view;
    view.connection = session_.status().connection;
    return view;
  } catch (const JsonError& error) {
    return fail(Errc::unavailable, "nacos.ServiceQueryRequest", error.what());
  }

  Status status() const {
    Status status = session_.status();
    status.unconfirmed = wishes_.unconfirmed();
    return status;
  }

 private:
  SessionHooks hooks() {
    return {.connected =
                [this](std::uint64_t number) {
                  connection_ = number;
                  refresh_at_ = next_refresh();
                  wishes_.connection_is_new();
                },
            .work =
                [this] {
                  tell_wishes();
                  if (now() >= refresh_at_) refresh();
                  return std::min(wishes_.next_due(), refresh_at_);
                },
            .receive = [this](const ServerRequest& request, std::uint64_t number) { return receive(request, number); }};
  }

  void wish_subscription(const ServiceName& service) {
    wishes_.want(key_of(Wishes::Kind::subscription, service), subscribe_request(options_.space, service, true),
                 subscribe_request(options_.space, service, false));
    session_.wake();
  }

  void unsubscribe(const ServiceName& service, Courier::ListenerId id) {
    if (!views_.remove(service, id)) return;
    const std::lock_guard lock{subscribing_};
    // Somebody may have subscribed again meanwhile.
    if (views_.has(service)) return;
    wishes_.no_longer(key_of(Wishes::Kind::subscription, service));
    session_.wake();
  }

  void tell_wishes() {
    for (const auto& wish : wishes_.due(now())) {
      const auto body = session_.ask(wish.request);
      if (body) {
        if (wish.request.type == "SubscribeServiceRequest") take(body->root());
        wishes_.confirm(wish);
      } else if (body.error().code == Errc::invalid_argument) {
        wishes_.refuse(wish, body.error());
        options_.log(LogLevel::error, to_string(body.error()));
      } else {
        wishes_.postpone(wish, body.error(), now() + options_.timings.redo);
        // The session is to look after the connection before each of the others has waited in vain, too.
        if (body.error().code == Errc::in_doubt) return;
      }
    }
  }

  // In case a push was lost.
  void refresh() {
    refresh_at_ = next_refresh();
    for (const ServiceName& service : views_.services()) {
      const auto body = session_.ask(query_request(options_.space, service));
      if (body) take(body->root());
      if (!body && body.error().code == Errc::in_doubt) return;
    }
  }

  Instant next_refresh() {
    const auto whole = static_cast<std::uint64_t>(options_.timings.refresh.count());
    return now() + Millis{whole - whole / 4 + random_.below(whole / 2 + 1)};
  }

  void take(JsonView body) try {
    if (value_at(body, "serviceInfo")) views_.update(read_service_info(body), connection_);
  } catch (const JsonError& error) {
    options_.log(LogLevel::warning, std::string{"nacos: a list that cannot be read: "} + error.what());
  }

  bool receive(const ServerRequest& request, std::uint64_t number) {
    if (request.type != "NotifySubscriberRequest") return false;
    views_.update(read_service_info(request.body.root()), number);
    return true;
  }

  // Fixed after construction
  const ClientOptions options_;

  base::Random random_{base::random_seed()};
  Courier courier_;
  ServiceViews views_;
  Wishes wishes_;
  std::mutex subscribing_;  // what is wished is what the views say

  // Of the session's thread
  std::uint64_t connection_ = 0;
  Instant refresh_at_ = Instant::max();

  Session session_;
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
