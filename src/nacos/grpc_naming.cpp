#include <algorithm>
#include <utility>

#include "nacos/messages.h"
#include "nacos/naming_transports.h"
#include "nacos/protocol.h"

namespace easyretry::nacos {
namespace {

DesiredState::Key key_of(DesiredState::Kind kind, const ServiceName& service) {
  return {kind, to_string(service)};
}

}  // namespace

GrpcNaming::GrpcNaming(const ClientOptions& options, ServiceViews& views, std::function<std::uint64_t()> number)
    : options_(options), views_(views), session_(options_, Module::naming, hooks(std::move(number))) {}

DesiredState::Ticket GrpcNaming::announce(const ServiceName& service, const Instance& instance) {
  const auto ticket =
      desired_.set(key_of(DesiredState::Kind::registration, service),
                   instance_request(options_.name_space, service, instance, InstanceChange::registered),
                   instance_request(options_.name_space, service, instance, InstanceChange::deregistered));
  session_.wake();
  return ticket;
}

DesiredState::Ticket GrpcNaming::withdraw(const ServiceName& service) {
  const auto ticket = desired_.withdraw(key_of(DesiredState::Kind::registration, service));
  session_.wake();
  return ticket;
}

Result<void> GrpcNaming::wait(const ServiceName& service, DesiredState::Ticket ticket) {
  return desired_.wait(key_of(DesiredState::Kind::registration, service), ticket, options_.timings.request);
}

Result<void> GrpcNaming::standing(const ServiceName& service) const {
  return desired_.standing(key_of(DesiredState::Kind::registration, service));
}

void GrpcNaming::subscribed(const ServiceName& service) {
  const std::lock_guard lock{subscribing_};
  desired_.set(key_of(DesiredState::Kind::subscription, service), subscribe_request(options_.name_space, service, true),
               subscribe_request(options_.name_space, service, false));
  session_.wake();
}

void GrpcNaming::unsubscribed(const ServiceName& service) {
  const std::lock_guard lock{subscribing_};
  if (views_.has(service)) return;
  desired_.withdraw(key_of(DesiredState::Kind::subscription, service));
  session_.wake();
}

Result<ServiceView> GrpcNaming::query(const ServiceName& service) try {
  const auto body = session_.ask(query_request(options_.name_space, service));
  if (!body) return tl::make_unexpected(body.error());
  ServiceView view = read_service_info(body->root()).view;
  view.connection = session_.status().connection;
  return view;
} catch (const JsonError& error) {
  return fail(Errc::unavailable, "nacos.ServiceQueryRequest", error.what());
}

Status GrpcNaming::status() const {
  Status status = session_.status();
  status.unconfirmed = desired_.unconfirmed();
  return status;
}

SessionHooks GrpcNaming::hooks(std::function<std::uint64_t()> number) {
  return {.number = std::move(number),
          .connected =
              [this](std::uint64_t connection) {
                connection_ = connection;
                refresh_at_ = next_refresh();
                desired_.forget_confirmations();
              },
          .work =
              [this] {
                send_desired();
                if (std::chrono::steady_clock::now() >= refresh_at_) refresh();
                return std::min(desired_.next_due(), refresh_at_);
              },
          .receive = [this](const ServerRequest& request,
                            std::uint64_t connection) { return receive(request, connection); }};
}

void GrpcNaming::send_desired() {
  for (const auto& change : desired_.due(std::chrono::steady_clock::now())) {
    const auto body = session_.ask(change.request);
    if (body) {
      if (change.request.type == "SubscribeServiceRequest") take(body->root());
      desired_.confirm(change);
    } else if (body.error().code == Errc::invalid_argument) {
      desired_.refuse(change, body.error());
      options_.log(LogLevel::error, to_string(body.error()));
    } else {
      desired_.postpone(change, body.error(), std::chrono::steady_clock::now() + options_.timings.redo);
      // The session has to check the connection before the other changes time out as well.
      if (body.error().code == Errc::in_doubt) return;
    }
  }
}

// A push may have been lost.
void GrpcNaming::refresh() {
  refresh_at_ = next_refresh();
  for (const ServiceName& service : views_.services()) {
    const auto body = session_.ask(query_request(options_.name_space, service));
    if (body) take(body->root());
    if (!body && body.error().code == Errc::in_doubt) return;
  }
}

Instant GrpcNaming::next_refresh() {
  const auto whole = static_cast<std::uint64_t>(options_.timings.refresh.count());
  return std::chrono::steady_clock::now() + Millis{whole - whole / 4 + random_.below(whole / 2 + 1)};
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
