#include "nacos/naming_client.h"

#include <algorithm>
#include <atomic>

#include "nacos/naming_transports.h"

namespace easyretry::nacos {
namespace {

// Decides whether HTTP is needed: when gRPC has had no connection for a while. For one thread.
class GrpcOutage {
 public:
  explicit GrpcOutage(Millis patience) : patience_(patience) {}

  bool is_long(bool connected) {
    const Instant now = std::chrono::steady_clock::now();
    if (connected) last_seen_ = now;
    return now - last_seen_ >= patience_;
  }

 private:
  const Millis patience_;
  Instant last_seen_ = std::chrono::steady_clock::now();
};

// With TLS configured, nothing is sent in plain text unless that is configured, too.
bool may_use_http(const ClientOptions& options) {
  if (options.transport != Transport::automatic) return options.transport == Transport::http;
  return !options.tls || std::all_of(options.servers.begin(), options.servers.end(),
                                     [](const ServerAddress& server) { return server.https; });
}

bool runs(const NamingTransport& transport) {
  return transport.status().state == State::running;
}

bool outdated(const ServiceInfo& info, const ServiceInfo& newest) {
  if (info.view.connection != newest.view.connection) return info.view.connection < newest.view.connection;
  return info.as_of < newest.as_of;
}

bool same(const ServiceView& a, const ServiceView& b) {
  return a.connection == b.connection && a.protected_by_threshold == b.protected_by_threshold &&
         a.instances == b.instances;
}

}  // namespace

class NamingClient::Impl {
 public:
  explicit Impl(ClientOptions options)
      : options_((validate(options), std::move(options))), notifier_(options_.log), views_(notifier_) {
    const auto number = [this] { return ++connections_; };
    if (options_.transport != Transport::http) grpc_ = std::make_unique<GrpcNaming>(options_, views_, number);
    if (may_use_http(options_)) {
      http_ = std::make_unique<HttpNaming>(options_, views_, HttpNamingHooks{number, [this] { return wants_http(); }});
    }
  }

  // The notifier first, because a listener may be using the transports.
  ~Impl() { notifier_.stop(); }

  // Every change is known to both transports, so that either can take over. Callers wait for the one that has a server.
  void announce(const ServiceName& service, const Instance& instance) {
    each([&](NamingTransport& transport) { transport.announce(service, instance); });
  }

  Result<void> register_instance(const ServiceName& service, const Instance& instance) try {
    return waiting(service, [&](NamingTransport& transport) { return transport.announce(service, instance); });
  } catch (const JsonError& error) {
    return fail(Errc::invalid_argument, "nacos.InstanceRequest", error.what());
  }

  Result<void> deregister_instance(const ServiceName& service) {
    return waiting(service, [&](NamingTransport& transport) { return transport.withdraw(service); });
  }

  Result<void> registration(const ServiceName& service) const { return carrier().standing(service); }

  Subscription subscribe(const ServiceName& service, OnView listener, std::string cluster) {
    const auto id = views_.add(service, std::move(cluster), std::move(listener));
    each([&](NamingTransport& transport) { transport.subscribed(service); });
    return Subscription{[this, service, id] {
      if (!views_.remove(service, id)) return;
      each([&](NamingTransport& transport) { transport.unsubscribed(service); });
    }};
  }

  Result<ServiceView> query(const ServiceName& service) { return carrier().query(service); }
  Status status() const { return carrier().status(); }

 private:
  void each(const auto& call) {
    if (grpc_) call(*grpc_);
    if (http_) call(*http_);
  }

  Result<void> waiting(const ServiceName& service, const auto& change) {
    NamingTransport& first = carrier();
    DesiredState::Ticket ticket = 0;
    each([&](NamingTransport& transport) {
      const DesiredState::Ticket given = change(transport);
      if (&transport == &first) ticket = given;
    });
    return first.wait(service, ticket);
  }

  NamingTransport& carrier() const {
    if (!grpc_ || (http_ && runs(*http_) && !runs(*grpc_))) return *http_;
    return *grpc_;
  }

  bool wants_http() { return !grpc_ || grpc_outage_.is_long(runs(*grpc_)); }

  // Fixed after construction
  const ClientOptions options_;

  std::atomic<std::uint64_t> connections_ = 0;
  GrpcOutage grpc_outage_{options_.timings.fallback};  // used by the thread of HTTP
  Notifier notifier_;
  ServiceViews views_;
  std::unique_ptr<NamingTransport> grpc_;  // at least one of the two is set
  std::unique_ptr<NamingTransport> http_;  // declared after grpc_, whose state it reads
};

NamingClient::NamingClient(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

NamingClient::~NamingClient() = default;

Result<void> NamingClient::register_instance(const ServiceName& service, const Instance& instance) {
  return impl_->register_instance(service, instance);
}

void NamingClient::announce(const ServiceName& service, const Instance& instance) {
  impl_->announce(service, instance);
}

Result<void> NamingClient::registration(const ServiceName& service) const {
  return impl_->registration(service);
}

Result<void> NamingClient::deregister_instance(const ServiceName& service) {
  return impl_->deregister_instance(service);
}

Subscription NamingClient::subscribe(const ServiceName& service, OnView listener, std::string cluster) {
  return impl_->subscribe(service, std::move(listener), std::move(cluster));
}

Result<ServiceView> NamingClient::query(const ServiceName& service) {
  return impl_->query(service);
}

Status NamingClient::status() const {
  return impl_->status();
}

Notifier::ListenerId ServiceViews::add(const ServiceName& service, std::string cluster, OnView listener) {
  const std::lock_guard lock{mutex_};
  Entry& entry = entries_[service];
  const auto id = ++last_id_;
  const auto added = entry.listeners.emplace(id, Listener{std::move(cluster), std::move(listener)}).first;
  if (entry.newest) notify(id, added->second, entry.newest->view);
  return id;
}

bool ServiceViews::remove(const ServiceName& service, Notifier::ListenerId id) {
  bool last = false;
  {
    const std::lock_guard lock{mutex_};
    Entry& entry = entries_[service];
    entry.listeners.erase(id);
    last = entry.listeners.empty();
    if (last) entries_.erase(service);
  }
  notifier_.forget(id);  // without the mutex: it waits for a listener, which may need it
  return last;
}

bool ServiceViews::has(const ServiceName& service) const {
  const std::lock_guard lock{mutex_};
  return entries_.contains(service);
}

std::vector<ServiceName> ServiceViews::services() const {
  const std::lock_guard lock{mutex_};
  std::vector<ServiceName> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

std::set<std::string> ServiceViews::clusters(const ServiceName& service) const {
  const std::lock_guard lock{mutex_};
  std::set<std::string> names;
  const auto found = entries_.find(service);
  if (found == entries_.end()) return names;
  for (const auto& [id, listener] : found->second.listeners) names.insert(listener.cluster);
  return names;
}

void ServiceViews::update(ServiceInfo info, std::uint64_t connection) {
  info.view.connection = connection;
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(info.view.service);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (entry.newest && outdated(info, *entry.newest)) return;
  const bool news = !entry.newest || !same(info.view, entry.newest->view);
  entry.newest = std::move(info);
  if (!news) return;
  for (const auto& [id, listener] : entry.listeners) notify(id, listener, entry.newest->view);
}

void ServiceViews::notify(Notifier::ListenerId id, const Listener& listener, const ServiceView& view) {
  ServiceView filtered = view;
  if (!listener.cluster.empty()) {
    std::erase_if(filtered.instances, [&](const Instance& instance) { return instance.cluster != listener.cluster; });
  }
  notifier_.deliver(id, [call = listener.call, filtered = std::move(filtered)] { call(filtered); });
}

}  // namespace easyretry::nacos
