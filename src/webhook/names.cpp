#include "webhook/names.h"

namespace easyretry::webhook {
namespace {

// getaddrinfo() does not say how long an answer holds. Half of what libcurl takes.
constexpr std::chrono::seconds kHolds{30};
constexpr std::size_t kManyNames = 1000;

}  // namespace

std::optional<std::vector<IpAddress>> Names::known(const std::string& host, Instant now) const {
  const auto found = known_.find(host);
  if (found == known_.end() || found->second.until <= now) return std::nullopt;
  return found->second.addresses;
}

bool Names::wait(CallId call, const std::string& host) {
  auto& waiting = waiting_[host];
  waiting.push_back(call);
  return waiting.size() == 1;
}

std::vector<CallId> Names::learn(const std::string& host, std::vector<IpAddress> addresses, Instant now) {
  if (known_.size() >= kManyNames) std::erase_if(known_, [&](const auto& one) { return one.second.until <= now; });
  if (!addresses.empty()) known_.insert_or_assign(host, Meaning{std::move(addresses), now + kHolds});
  const auto node = waiting_.extract(host);
  return node ? std::move(node.mapped()) : std::vector<CallId>{};
}

}  // namespace easyretry::webhook
