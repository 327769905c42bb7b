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

// There are only as many as names are being looked up. Somebody with many names whose servers are dead could hold up
// the first calls to new names of others; never calls to names that are known.
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
  Shared(LookUp how, Found whom) : look_up(std::move(how)), found(std::move(whom)) {}

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

  // What nobody is left to look up is not found.
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

}  // namespace easyretry::webhook
