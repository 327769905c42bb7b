#pragma once
// Looks names up on threads of its own, because getaddrinfo() blocks and cannot be stopped.
//
// libcurl's own way is a thread for every transfer: thousands, when thousands of calls to a new name begin at once.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <easyretry/error.h>

#include "webhook/address.h"

namespace easyretry::webhook {

using Addresses = Result<std::vector<IpAddress>>;  // not empty
using LookUp = std::function<Addresses(const std::string& host)>;

// By getaddrinfo(): DNS, /etc/hosts, whatever this machine is set up for.
Addresses look_up_here(const std::string& host);

class Resolver {
 public:
  // Called on some thread, also after the Resolver is gone.
  using Found = std::function<void(const std::string& host, Addresses addresses)>;

  Resolver(LookUp look_up, Found found);
  // Does not wait for what is being looked up: a dead name server keeps a thread busy for half a minute.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  void ask(std::string host);

 private:
  struct Shared;
  static void work(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;  // with the threads
};

}  // namespace easyretry::webhook
