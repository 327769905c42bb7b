#include "nacos/grpc_naming.h"

#include <algorithm>
#include <utility>

#include "nacos/json_read.h"
#include "nacos/naming_messages.h"

namespace easyretry::nacos {
namespace {

Wishes::Key key_of(Wishes::Kind kind, const ServiceName& service) {
  return {kind, to_string(service)};
}

Instant now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

GrpcNaming::GrpcNaming(const ClientOptions& options, ServiceViews& views, std::function<std::uint64_t()> number)
    : options_(options), views_(views), session_(options_, Module::naming, hooks(std::move(number))) {}

Wishes::Ticket GrpcNaming::announce(const ServiceName& service, const Instance& instance) {
  const auto ticket = wishes_.want(key_of(Wishes::Kind::registration, service),
                                   instance_request(options_.space, service, instance, InstanceChange::registered),
                                   instance_request(options_.space, service, instance, InstanceChange::deregistered));
  session_.wake();
  return ticket;
}

Wishes::Ticket GrpcNaming::no_longer(const ServiceName& service) {
  const auto ticket = wishes_.no_longer(key_of(Wishes::Kind::registration, service));
  session_.wake();
  return ticket;
}

Result<void> GrpcNaming::wait(const ServiceName& service, Wishes::Ticket ticket) {
  return wishes_.wait(key_of(Wishes::Kind::registration, service), ticket, options_.timings.request);
}

Result<void> GrpcNaming::standing(const ServiceName& service) const {
  return wishes_.standing(key_of(Wishes::Kind::registration, service));
}

void GrpcNaming::subscribed(const ServiceName& service) {
  const std::lock_guard lock{subscribing_};
  wishes_.want(key_of(Wishes::Kind::subscription, service), subscribe_request(options_.space, service, true),
               subscribe_request(options_.space, service, false));
  session_.wake();
}

void GrpcNaming::unsubscribed(const ServiceName& service) {
  const std::lock_guard lock{subscribing_};
  if (views_.has(service)) return;
  wishes_.no_longer(key_of(Wishes::Kind::subscription, service));
  session_.wake();
}

Result<ServiceView> GrpcNaming::query(const ServiceName& service) try {
  const auto body = session_.ask(query_request(options_.space, service));
  if (!body) return tl::make_unexpected(body.error());
  ServiceView view = read_service_info(body->root()).view;
  view.connection = session_.status().connection;
  return view;
} catch (const JsonError& error) {
  return fail(Errc::unavailable, "nacos.ServiceQueryRequest", error.what());
}

Status GrpcNaming::status() const {
  Status status = session_.status();
  status.unconfirmed = wishes_.unconfirmed();
  return status;
}

SessionHooks GrpcNaming::hooks(std::function<std::uint64_t()> number) {
  return {.number = std::move(number),
          .connected =
              [this](std::uint64_t connection) {
                connection_ = connection;
                refresh_at_ = next_refresh();
                wishes_.connection_is_new();
              },
          .work =
              [this] {
                tell_wishes();
                if (now() >= refresh_at_) refresh();
                return std::min(wishes_.next_due(), refresh_at_);
              },
          .receive = [this](const ServerRequest& request,
                            std::uint64_t connection) { return receive(request, connection); }};
}

void GrpcNaming::tell_wishes() {
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
void GrpcNaming::refresh() {
  refresh_at_ = next_refresh();
  for (const ServiceName& service : views_.services()) {
    const auto body = session_.ask(query_request(options_.space, service));
    if (body) take(body->root());
    if (!body && body.error().code == Errc::in_doubt) return;
  }
}

Instant GrpcNaming::next_refresh() {
  const auto whole = static_cast<std::uint64_t>(options_.timings.refresh.count());
  return now() + Millis{whole - whole / 4 + random_.below(whole / 2 + 1)};
}

void GrpcNaming::take(JsonView body) try {
  if (value_at(body, "serviceInfo")) views_.update(read_service_info(body), connection_);
} catch (const JsonError& error) {
  options_.log(LogLevel::warning, std::string{"nacos: cannot read a list of instances: "} + error.what());
}

bool GrpcNaming::receive(const ServerRequest& request, std::uint64_t number) {
  if (request.type != "NotifySubscriberRequest") return false;
  views_.update(read_service_info(request.body.root()), number);
  return true;
}

}  // namespace easyretry::nacos
