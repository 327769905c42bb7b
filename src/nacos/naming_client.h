#pragma once
// A client for the naming part of Nacos: registers instances and watches the instances of services.
//
//   NamingClient nacos{{.servers = parse_servers("10.0.0.7:8848,10.0.0.8:8848")}};
//   nacos.register_instance({"orders"}, {.ip = "10.0.1.1", .port = 7070});
//   auto others = nacos.subscribe({"orders"}, [](const ServiceView& view) { … });
//
// Registrations and subscriptions are repeated on every new connection, until they are withdrawn or the client is
// destroyed. Clients are independent: two in one process are two clients to the server. Thread-safe.

#include <memory>
#include <string>

#include "base/result.h"
#include "nacos/instance.h"
#include "nacos/notifier.h"
#include "nacos/options.h"

namespace easyretry::nacos {

class NamingClient {
 public:
  // Connects in the background. Throws std::invalid_argument for invalid options.
  explicit NamingClient(ClientOptions options);
  // Returns promptly; waits only for a running listener. Servers drop at once what belongs to the connection.
  ~NamingClient();
  NamingClient(const NamingClient&) = delete;
  NamingClient& operator=(const NamingClient&) = delete;

  // One instance per service: a second one replaces it. Waits up to timings.request for the server. in_doubt: not
  // confirmed yet; the client keeps trying. invalid_argument: the server rejected it, and the client has dropped it.
  Result<void> register_instance(const ServiceName& service, const Instance& instance);
  // The same without waiting; registration() returns the outcome.
  void announce(const ServiceName& service, const Instance& instance);
  Result<void> registration(const ServiceName& service) const;
  // Waits like register_instance(); succeeds if nothing was registered.
  Result<void> deregister_instance(const ServiceName& service);

  // The listener gets the whole list as soon as the client has it, and again when it has changed or came over a new
  // connection; only the newest, if the listener is slow. It runs on a thread of the client. The service need not exist
  // yet.
  Subscription subscribe(const ServiceName& service, OnView listener, std::string cluster = {});

  // Sends a request to the server.
  Result<ServiceView> query(const ServiceName& service);

  Status status() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::nacos
