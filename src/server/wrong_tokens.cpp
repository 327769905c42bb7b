#include "server/wrong_tokens.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <arpa/inet.h>

namespace easyretry::server {
namespace {

// Those who come when as many as are known have all tried within their time: memory is bounded, not their number.
const std::string kEverybodyElse;

}  // namespace

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
  return by_network_.try_emplace(room ? network : kEverybodyElse, Tries{.began = now}).first->second;
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
