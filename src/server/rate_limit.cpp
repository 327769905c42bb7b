#include "server/rate_limit.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <arpa/inet.h>

namespace easyretry::server {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kAtOnce = std::chrono::seconds{1};
// New clients share this name when the table is full of active ones: the memory is bounded, not the number of clients.
const std::string kOtherClients;

}  // namespace

RateLimit::RateLimit(int per_second, const Clock& clock, std::size_t most_known)
    : apart_(per_second > 0 ? kAtOnce / per_second : nanoseconds{0}), clock_(clock), most_known_(most_known) {}

std::optional<nanoseconds> RateLimit::wait_of(const std::string& client) {
  if (apart_ == nanoseconds{0}) return std::nullopt;
  const std::lock_guard lock{mutex_};
  const Instant now = clock_.steady();
  if (lasts_until_.size() >= most_known_ && !lasts_until_.contains(client)) forget_the_idle(now);
  const bool room = lasts_until_.size() < most_known_ || lasts_until_.contains(client);
  Instant& until = lasts_until_[room ? client : kOtherClients];
  const Instant next = std::max(until, now) + apart_;
  if (next > now + kAtOnce) return next - now - kAtOnce;
  until = next;
  return std::nullopt;
}

void RateLimit::forget_the_idle(Instant now) {
  std::erase_if(lasts_until_, [now](const auto& entry) { return entry.second <= now; });
}

std::optional<std::chrono::nanoseconds> WrongTokens::wait_of(const std::string& address) {
  const std::lock_guard lock{mutex_};
  const Instant now = clock_.steady();
  Tries& tries = tries_of(network_of(address), now);
  if (now < tries.wait_until) return tries.wait_until - now;
  if (is_over(tries, now)) tries = {.began = now};
  ++tries.count;
  if (tries.count >= limits_.free) tries.wait_until = now + wait_after(tries.count);
  return std::nullopt;
}

std::optional<std::chrono::nanoseconds> WrongTokens::waits(const std::string& address) {
  const std::lock_guard lock{mutex_};
  const Instant now = clock_.steady();
  const auto own = by_network_.find(network_of(address));
  const auto found = own == by_network_.end() ? by_network_.find(kOtherClients) : own;
  if (found == by_network_.end() || now >= found->second.wait_until) return std::nullopt;
  return found->second.wait_until - now;
}

bool WrongTokens::is_over(const Tries& tries, Instant now) const {
  return now > std::max(tries.began, tries.wait_until) + limits_.window;
}

WrongTokens::Tries& WrongTokens::tries_of(const std::string& network, Instant now) {
  const auto found = by_network_.find(network);
  if (found != by_network_.end()) return found->second;
  if (by_network_.size() >= limits_.most_known) {
    std::erase_if(by_network_, [&](const auto& entry) { return is_over(entry.second, now); });
  }
  const bool room = by_network_.size() < limits_.most_known;
  return by_network_.try_emplace(room ? network : kOtherClients, Tries{.began = now}).first->second;
}

std::chrono::nanoseconds WrongTokens::wait_after(int count) const {
  constexpr int kMostDoublings = 20;
  const int doublings = std::min(count - limits_.free, kMostDoublings);
  return std::min(limits_.longest_wait, limits_.first_wait * (std::int64_t{1} << doublings));
}

std::string network_of(const std::string& address) {
  constexpr std::size_t kBytesOfNetwork = 8;
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  if (IN6_IS_ADDR_V4MAPPED(reinterpret_cast<const in6_addr*>(bytes.data()))) return address;
  std::fill(bytes.begin() + kBytesOfNetwork, bytes.end(), static_cast<unsigned char>(0));
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  return std::string{text.data()} + "/64";
}

}  // namespace easyretry::server
