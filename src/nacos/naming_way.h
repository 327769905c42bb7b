#pragma once
// One way of speaking of naming with servers: by gRPC or by HTTP. Both keep wishes, and tell lists to the views.

#include "nacos/instance.h"
#include "nacos/status.h"
#include "nacos/wishes.h"

namespace easyretry::nacos {

class NamingWay {
 public:
  virtual ~NamingWay() = default;

  // Throws JsonError for what is no text.
  virtual Wishes::Ticket announce(const ServiceName& service, const Instance& instance) = 0;
  virtual Wishes::Ticket no_longer(const ServiceName& service) = 0;
  // What became of an announcement or its end; see Wishes.
  virtual Result<void> wait(const ServiceName& service, Wishes::Ticket ticket) = 0;
  virtual Result<void> standing(const ServiceName& service) const = 0;

  // The views have a listener of the service: the first, or one more.
  virtual void subscribed(const ServiceName& service) = 0;
  // They have none any more, unless somebody has come meanwhile.
  virtual void unsubscribed(const ServiceName& service) = 0;

  virtual Result<ServiceView> query(const ServiceName& service) = 0;
  virtual Status status() const = 0;
};

}  // namespace easyretry::nacos
