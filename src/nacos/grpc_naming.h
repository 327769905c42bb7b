#pragma once
// Naming by gRPC: one thread, that of the session, tells the server what is wished and reads lists again now and then.

#include <functional>
#include <mutex>

#include "nacos/naming_way.h"
#include "nacos/service_views.h"
#include "nacos/session.h"

namespace easyretry::nacos {

class GrpcNaming final : public NamingWay {
 public:
  // The options and the views outlive it. `number` gives each connection its own.
  GrpcNaming(const ClientOptions& options, ServiceViews& views, std::function<std::uint64_t()> number);

  Wishes::Ticket announce(const ServiceName& service, const Instance& instance) override;
  Wishes::Ticket no_longer(const ServiceName& service) override;
  Result<void> wait(const ServiceName& service, Wishes::Ticket ticket) override;
  Result<void> standing(const ServiceName& service) const override;
  void subscribed(const ServiceName& service) override;
  void unsubscribed(const ServiceName& service) override;
  Result<ServiceView> query(const ServiceName& service) override;
  Status status() const override;

 private:
  SessionHooks hooks(std::function<std::uint64_t()> number);
  void tell_wishes();
  void refresh();
  Instant next_refresh();
  void take(JsonView body);
  bool receive(const ServerRequest& request, std::uint64_t number);

  // Fixed after construction
  const ClientOptions& options_;
  ServiceViews& views_;

  base::Random random_{base::random_seed()};
  Wishes wishes_;
  std::mutex subscribing_;  // what is wished is what the views say

  // Of the session's thread
  std::uint64_t connection_ = 0;
  Instant refresh_at_ = Instant::max();

  Session session_;
};

}  // namespace easyretry::nacos
