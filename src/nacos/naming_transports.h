#pragma once
// The two transports of naming, gRPC and HTTP. Each keeps the desired state and passes lists of instances to the views.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "nacos/desired_state.h"
#include "nacos/instance.h"
#include "nacos/login.h"
#include "nacos/messages.h"
#include "nacos/notifier.h"
#include "nacos/session.h"

namespace easyretry::nacos {

// The newest list of each subscribed service, and its listeners. Thread-safe.
class ServiceViews {
 public:
  explicit ServiceViews(Notifier& notifier) : notifier_(notifier) {}

  // If there is already a list, the listener is called at once. An empty `cluster` means all clusters.
  Notifier::ListenerId add(const ServiceName& service, std::string cluster, OnView listener);
  // Returns true if it was the last listener of the service.
  bool remove(const ServiceName& service, Notifier::ListenerId id);
  bool has(const ServiceName& service) const;
  std::vector<ServiceName> services() const;
  std::set<std::string> clusters(const ServiceName& service) const;  // that listeners want

  // Drops a list that is older than the last one of the same connection, that came over an older connection, or that
  // has no listener.
  void update(ServiceInfo info, std::uint64_t connection);

 private:
  struct Listener {
    std::string cluster;
    OnView call;
  };
  struct Entry {
    std::optional<ServiceInfo> newest{};
    std::map<Notifier::ListenerId, Listener> listeners{};
  };

  void notify(Notifier::ListenerId id, const Listener& listener, const ServiceView& view);

  Notifier& notifier_;
  mutable std::mutex mutex_;
  // Guarded by mutex_
  Notifier::ListenerId last_id_ = 0;
  std::map<ServiceName, Entry> entries_;
};

class NamingTransport {
 public:
  virtual ~NamingTransport() = default;

  // Throws JsonError for invalid UTF-8.
  virtual DesiredState::Ticket announce(const ServiceName& service, const Instance& instance) = 0;
  virtual DesiredState::Ticket withdraw(const ServiceName& service) = 0;
  // The outcome of announce() or withdraw(); see DesiredState.
  virtual Result<void> wait(const ServiceName& service, DesiredState::Ticket ticket) = 0;
  virtual Result<void> standing(const ServiceName& service) const = 0;

  // The views have one more listener of the service.
  virtual void subscribed(const ServiceName& service) = 0;
  // The last listener has left, unless another has come meanwhile.
  virtual void unsubscribed(const ServiceName& service) = 0;

  virtual Result<ServiceView> query(const ServiceName& service) = 0;
  virtual Status status() const = 0;
};

// Naming over gRPC. The thread of the session sends changes to the server and reads lists again now and then.
class GrpcNaming final : public NamingTransport {
 public:
  // The options and the views must outlive it. `number` returns a new number for each connection.
  GrpcNaming(const ClientOptions& options, ServiceViews& views, std::function<std::uint64_t()> number);

  DesiredState::Ticket announce(const ServiceName& service, const Instance& instance) override;
  DesiredState::Ticket withdraw(const ServiceName& service) override;
  Result<void> wait(const ServiceName& service, DesiredState::Ticket ticket) override;
  Result<void> standing(const ServiceName& service) const override;
  void subscribed(const ServiceName& service) override;
  void unsubscribed(const ServiceName& service) override;
  Result<ServiceView> query(const ServiceName& service) override;
  Status status() const override;

 private:
  SessionHooks hooks(std::function<std::uint64_t()> number);
  void send_desired();
  void refresh();
  Instant next_refresh();
  void take(JsonView body);
  bool receive(const ServerRequest& request, std::uint64_t number);

  // Fixed after construction
  const ClientOptions& options_;
  ServiceViews& views_;

  base::Random random_{base::random_seed()};
  DesiredState desired_;
  std::mutex subscribing_;  // keeps the desired subscriptions consistent with the views

  // Used by the session's thread
  std::uint64_t connection_ = 0;
  Instant refresh_at_ = Instant::max();

  Session session_;
};

struct HttpNamingHooks {
  std::function<std::uint64_t()> number;  // called for each new server
  std::function<bool()> wanted;           // called on its thread, about once a second
};

// Naming over HTTP, for networks that block gRPC. Heartbeats keep a registration alive, and lists are polled.
//
//              not wanted                                          a server answers
//   idle ◄──────────────────── any        looking for a server ─────────────────────► in use
//        ────────────────────► looking            ▲  no answer: the next server        │
//                wanted                           └────────────────────────────────────┘
//
// One thread does all the work. The public functions may be called from any thread.
class HttpNaming final : public NamingTransport {
 public:
  // The options and the views must outlive it.
  HttpNaming(const ClientOptions& options, ServiceViews& views, HttpNamingHooks hooks);
  ~HttpNaming() override;  // returns promptly; registrations stay until the server misses the heartbeats

  DesiredState::Ticket announce(const ServiceName& service, const Instance& instance) override;
  DesiredState::Ticket withdraw(const ServiceName& service) override;
  Result<void> wait(const ServiceName& service, DesiredState::Ticket ticket) override;
  Result<void> standing(const ServiceName& service) const override;
  void subscribed(const ServiceName& service) override;
  void unsubscribed(const ServiceName&) override {}  // lists without a listener are not polled
  Result<ServiceView> query(const ServiceName& service) override;
  Status status() const override;  // running: a server answers

 private:
  struct Peer {
    ServerAddress server;
    HttpDialect dialect;
  };

  void run();
  void look_for_server();
  std::optional<HttpDialect> find_dialect(const ServerAddress& server);
  void stop_using_http();
  void use(const Peer& peer);
  bool send_desired(const Peer& peer);
  bool beat(const Peer& peer);
  bool poll(const Peer& peer);
  bool give_up(const Error& error);
  void wait_until(Instant time);
  void wake();

  std::optional<Registration> registration_of(const std::string& service) const;
  std::optional<Peer> peer() const;
  void report(const Error& error);

  // Fixed after construction
  const ClientOptions& options_;
  ServiceViews& views_;
  const HttpNamingHooks hooks_;

  std::stop_source stop_;
  base::Random random_{base::random_seed()};
  HttpClient client_;
  DesiredState desired_;

  // Used by the thread
  ServerList servers_;
  std::size_t failures_ = 0;
  Instant beat_at_{};
  Instant poll_at_{};
  std::int64_t polls_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_
  std::map<std::string, Registration> registrations_;  // the last registration of each group@@service
  std::optional<Peer> peer_;
  Status status_;
  std::set<std::string> reported_;
  bool woken_ = false;

  std::thread thread_;
};

}  // namespace easyretry::nacos
