#pragma once
// Naming by HTTP, for networks that let no gRPC through: a registration lives by beats, and lists are asked for again
// and again.
//
//              not wanted                                          a server answers
//   idle ◄──────────────────── any        looking for a server ─────────────────────► speaking
//        ────────────────────► looking            ▲  no answer: the next server          │
//                wanted                           └──────────────────────────────────────┘
//
// One thread does all of it. Its other members may be called from any thread.

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>

#include "base/random.h"
#include "nacos/http_caller.h"
#include "nacos/naming_way.h"
#include "nacos/server_list.h"
#include "nacos/service_views.h"

namespace easyretry::nacos {

struct HttpNamingHooks {
  std::function<std::uint64_t()> number;  // for each server that it begins to speak with
  std::function<bool()> wanted;           // asked on its thread, about once a second
};

class HttpNaming final : public NamingWay {
 public:
  // The options and the views outlive it.
  HttpNaming(const ClientOptions& options, ServiceViews& views, HttpNamingHooks hooks);
  ~HttpNaming() override;  // prompt; what is registered stays so until the server misses its beats

  Wishes::Ticket announce(const ServiceName& service, const Instance& instance) override;
  Wishes::Ticket no_longer(const ServiceName& service) override;
  Result<void> wait(const ServiceName& service, Wishes::Ticket ticket) override;
  Result<void> standing(const ServiceName& service) const override;
  void subscribed(const ServiceName& service) override;
  void unsubscribed(const ServiceName&) override {}  // nothing is asked for that nobody listens to
  Result<ServiceView> query(const ServiceName& service) override;
  Status status() const override;  // running: it speaks with a server

 private:
  struct Peer {
    ServerAddress server;
    HttpDialect dialect;
  };

  void run();
  void look_for_server();
  std::optional<HttpDialect> greet(const ServerAddress& server);
  void retire();
  void speak(const Peer& peer);
  bool tell_wishes(const Peer& peer);
  bool beat(const Peer& peer);
  bool poll(const Peer& peer);
  bool give_up(const Error& error);
  void wait_until(Instant time);
  void wake();

  std::optional<Registration> registration_of(const std::string& service) const;
  std::optional<Peer> peer() const;
  void trouble(const Error& error);

  // Fixed after construction
  const ClientOptions& options_;
  ServiceViews& views_;
  const HttpNamingHooks hooks_;

  std::stop_source stop_;
  base::Random random_{base::random_seed()};
  HttpCaller caller_;
  Wishes wishes_;

  // Of the thread
  ServerList servers_;
  std::size_t failures_ = 0;
  Instant beat_at_{};
  Instant poll_at_{};
  std::int64_t polls_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_
  std::map<std::string, Registration> registrations_;  // by group@@service, the last of each
  std::optional<Peer> peer_;
  Status status_;
  std::set<std::string> told_;
  bool woken_ = false;

  std::thread thread_;
};

}  // namespace easyretry::nacos
