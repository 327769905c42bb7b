#pragma once
// Resolves host names on its own threads, because getaddrinfo() blocks and cannot be cancelled; and remembers the
// results.
//
// libcurl would start a thread for every transfer: thousands, if thousands of calls to a new name start at once.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <easyretry/time.h>

#include "base/result.h"
#include "webhook/address.h"
#include "webhook/call.h"

namespace easyretry::webhook {

using Addresses = Result<std::vector<IpAddress>>;  // not empty
using LookUp = std::function<Addresses(const std::string& host)>;

// Uses getaddrinfo(): DNS, /etc/hosts, or whatever this machine is configured for.
Addresses look_up_here(const std::string& host);

class Resolver {
 public:
  // Called on any thread, even after the Resolver is destroyed.
  using Found = std::function<void(const std::string& host, Addresses addresses)>;

  Resolver(LookUp look_up, Found found);
  // Does not wait for lookups in progress: a dead name server blocks a thread for half a minute.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  void ask(std::string host);

 private:
  struct Shared;
  static void work(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;  // shared with the threads
};

// The addresses of names, for a while, and the calls that wait for them. For one thread.
class NameCache {
 public:
  std::optional<std::vector<IpAddress>> known(const std::string& host, Instant now) const;
  // Returns true if this is the first call to wait, so the name must be looked up.
  bool wait(CallId call, const std::string& host);
  // Empty addresses: nothing was found. Returns all calls that waited.
  std::vector<CallId> learn(const std::string& host, std::vector<IpAddress> addresses, Instant now);
  // The addresses no longer answer.
  void forget(const std::string& host) { known_.erase(host); }

 private:
  struct Entry {
    std::vector<IpAddress> addresses;
    Instant until;
  };

  std::unordered_map<std::string, Entry> known_;
  std::unordered_map<std::string, std::vector<CallId>> waiting_;
};

}  // namespace easyretry::webhook
