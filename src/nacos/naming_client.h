#pragma once
// A client of Nacos's naming: says that we are here, and learns who else is.
//
//   NamingClient nacos{{.servers = parse_servers("10.0.0.7:8848,10.0.0.8:8848")}};
//   nacos.register_instance({"orders"}, {.ip = "10.0.1.1", .port = 7070});
//   auto others = nacos.subscribe({"orders"}, [](const ServiceView& view) { … });
//
// What was registered and subscribed is said again on every new connection, until it is taken back or the client goes.
// Clients are independent: two in one process are two to the server. Safe to use from any thread.

#include <memory>
#include <string>

#include <easyretry/error.h>

#include "nacos/instance.h"
#include "nacos/options.h"
#include "nacos/status.h"
#include "nacos/subscription.h"

namespace easyretry::nacos {

class NamingClient {
 public:
  // Connects in the background. Throws std::invalid_argument for wrong options.
  explicit NamingClient(ClientOptions options);
  // Prompt; waits only for a listener that is running. Servers forget at once what hung on the connection.
  ~NamingClient();
  NamingClient(const NamingClient&) = delete;
  NamingClient& operator=(const NamingClient&) = delete;

  // One instance a service: another one replaces it. Waits up to timings.request for the server; in_doubt means that it
  // has not confirmed yet, and the client goes on trying. invalid_argument: the server refuses it, and the client has
  // forgotten it.
  Result<void> register_instance(const ServiceName& service, const Instance& instance);
  // The same without waiting; registration() tells what became of it.
  void announce(const ServiceName& service, const Instance& instance);
  Result<void> registration(const ServiceName& service) const;
  // Waits like register_instance(); ok if nothing was registered.
  Result<void> deregister_instance(const ServiceName& service);

  // The listener gets the whole list as soon as the client has it, and again when it has changed or has come by a new
  // connection; only the newest, if it is slow. It runs on a thread of the client's. The service need not exist yet.
  Subscription subscribe(const ServiceName& service, OnView listener, std::string cluster = {});

  // Asks the server now.
  Result<ServiceView> query(const ServiceName& service);

  Status status() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::nacos
