#include "webhook/resolver.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <netdb.h>
#include <pthread.h>

namespace easyretry::webhook {
namespace {

// A thread runs only while there are names to look up. A user with many names whose name servers are dead could delay
// the first calls of others to new names, but never calls to known names.
constexpr int kMostThreads = 8;

tl::unexpected<Error> not_found(const std::string& host, int code) {
  const bool unknown = code == EAI_NONAME || code == EAI_NODATA;
  return fail(Errc::unavailable, "webhook.name",
              unknown ? "there is no host " + host + " in DNS"
                      : "the name " + host + " could not be looked up: " + gai_strerror(code));
}

tl::unexpected<Error> no_thread_for(const std::string& host, const std::string& why) {
  return fail(Errc::unavailable, "webhook.name", "no thread to look up " + host + ": " + why);
}

// getaddrinfo() does not say how long an answer is valid. This is half of libcurl's default.
constexpr std::chrono::seconds kHolds{30};
constexpr std::size_t kManyNames = 1000;

}  // namespace

Addresses look_up_here(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int code = getaddrinfo(host.c_str(), nullptr, &wanted, &list); code != 0) return not_found(host, code);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner{list, freeaddrinfo};
  std::vector<IpAddress> addresses;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    const auto address = address_of(*one->ai_addr);
    if (address && std::ranges::find(addresses, *address) == addresses.end()) addresses.push_back(*address);
  }
  if (addresses.empty()) return not_found(host, EAI_NONAME);
  return addresses;
}

struct Resolver::Shared {
  Shared(LookUp how, Found callback) : look_up(std::move(how)), found(std::move(callback)) {}

  std::optional<std::string> next() {
    const std::lock_guard lock{mutex};
    if (hosts.empty()) {
      --threads;
      return std::nullopt;
    }
    std::string host = std::move(hosts.front());
    hosts.pop_front();
    return host;
  }

  // Names that no thread is left to look up count as not found.
  void one_thread_less(const std::string& why) {
    std::deque<std::string> left;
    {
      const std::lock_guard lock{mutex};
      if (--threads > 0) return;
      left.swap(hosts);
    }
    for (const std::string& host : left) found(host, no_thread_for(host, why));
  }

  // Fixed after construction
  const LookUp look_up;
  const Found found;

  std::mutex mutex;
  // Guarded by mutex
  std::deque<std::string> hosts{};
  int threads = 0;
};

Resolver::Resolver(LookUp look_up, Found found)
    : shared_(std::make_shared<Shared>(std::move(look_up), std::move(found))) {}

Resolver::~Resolver() {
  const std::lock_guard lock{shared_->mutex};
  shared_->hosts.clear();
}

void Resolver::ask(std::string host) {
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->hosts.push_back(std::move(host));
    if (shared_->threads == kMostThreads) return;
    ++shared_->threads;
  }
  try {
    std::thread{[shared = shared_] { work(shared); }}.detach();
  } catch (const std::system_error& error) {
    shared_->one_thread_less(error.what());
  }
}

void Resolver::work(const std::shared_ptr<Shared>& shared) {
  pthread_setname_np(pthread_self(), "er-names");
  while (const auto host = shared->next()) shared->found(*host, shared->look_up(*host));
}

std::optional<std::vector<IpAddress>> NameCache::known(const std::string& host, Instant now) const {
  const auto found = known_.find(host);
  if (found == known_.end() || found->second.until <= now) return std::nullopt;
  return found->second.addresses;
}

bool NameCache::wait(CallId call, const std::string& host) {
  auto& waiting = waiting_[host];
  waiting.push_back(call);
  return waiting.size() == 1;
}

std::vector<CallId> NameCache::learn(const std::string& host, std::vector<IpAddress> addresses, Instant now) {
  if (known_.size() >= kManyNames) std::erase_if(known_, [&](const auto& one) { return one.second.until <= now; });
  if (!addresses.empty()) known_.insert_or_assign(host, Entry{std::move(addresses), now + kHolds});
  const auto node = waiting_.extract(host);
  return node ? std::move(node.mapped()) : std::vector<CallId>{};
}

}  // namespace easyretry::webhook
