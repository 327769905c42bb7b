#pragma once
// What names mean, for a while, and who waits to know. One thread.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <easyretry/time.h>

#include "webhook/address.h"
#include "webhook/places.h"

namespace easyretry::webhook {

class Names {
 public:
  std::optional<std::vector<IpAddress>> known(const std::string& host, Instant now) const;
  // True: this one is the first to wait for it, so it is to be looked up.
  bool wait(CallId call, const std::string& host);
  // Empty: nothing was found. Gives all who waited.
  std::vector<CallId> learn(const std::string& host, std::vector<IpAddress> addresses, Instant now);
  // Nobody answers there any more.
  void forget(const std::string& host) { known_.erase(host); }

 private:
  struct Meaning {
    std::vector<IpAddress> addresses;
    Instant until;
  };

  std::unordered_map<std::string, Meaning> known_;
  std::unordered_map<std::string, std::vector<CallId>> waiting_;
};

}  // namespace easyretry::webhook
