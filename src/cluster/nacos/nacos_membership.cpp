#include "cluster/nacos/nacos_membership.h"

#include <algorithm>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <easyretry/detail/json_text.h>

#include "nacos/instance.h"
#include "nacos/server_address.h"

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;

// The longest time that a server takes to notice that a silent client is dead. It notices a killed one at once.
constexpr Millis kSilentDeath = 28s;
// Clients wait up to 5 s between attempts, and repeat an unconfirmed request after 3 s.
constexpr Millis kRejoin = 8s;
constexpr Millis kRefresh = 1s;
constexpr Millis kFirstList = 500ms;  // a reachable server answers sooner

// The other instance that is listed at our address instead of us. With gRPC both would be listed; with HTTP an address
// is registered only once.
std::optional<std::string> other_at_our_address(const nacos::ServiceView& view, const nacos::Instance& ours) {
  std::optional<std::string> other;
  for (const nacos::Instance& instance : view.instances) {
    if (instance.ip != ours.ip || instance.port != ours.port) continue;
    const std::string node = nacos::node_of(instance).id;
    if (node == nacos::node_of(ours).id) return std::nullopt;
    other = node;
  }
  return other;
}

}  // namespace

struct NacosMembership::Session {
  explicit Session(const nacos::ClientOptions& options) : client(options) {}

  nacos::NamingClient client;
  std::optional<nacos::Instance> announced{};
  nacos::Subscription subscription{};  // ends before the client
};

NacosMembership::NacosMembership(nacos::ServiceUrl where, SharedSettings settings, std::string node)
    : where_(std::move(where)),
      settings_(std::move(settings)),
      since_(std::chrono::floor<Millis>(std::chrono::system_clock::now())),
      traits_{.source = "nacos",
              .self = std::move(node),
              .pushes = true,
              .refresh = kRefresh,
              .death_timeout = kSilentDeath},
      rejoin_grace_(kRejoin) {}

NacosMembership::~NacosMembership() = default;

NacosMembership::Session& NacosMembership::open_session() {
  if (!session_) {
    session_ = std::make_unique<Session>(where_.client);
    session_->subscription = session_->client.subscribe(
        where_.service, [this](const nacos::ServiceView& view) { take(view); }, where_.cluster);
  }
  return *session_;
}

void NacosMembership::take(const nacos::ServiceView& view) {
  std::function<void()> changed;
  {
    const std::lock_guard lock{mutex_};
    newest_ = view;
    changed = changed_;
  }
  arrived_.notify_all();
  if (changed) changed();
}

void NacosMembership::listen(std::function<void()> changed) {
  const std::lock_guard lock{mutex_};
  changed_ = std::move(changed);
}

bool NacosMembership::announce(Session& session, const Announcement& announcement) {
  nacos::Instance instance{.ip = where_.ip.empty() ? nacos::local_ip_towards(where_.client.servers.front()) : where_.ip,
                           .port = where_.port != 0 ? where_.port : port_.number(),
                           .cluster = where_.cluster};
  const bool handlers_fit =
      write_metadata(instance, settings_, {traits_.self, since_, announcement.says, announcement.handlers});
  if (session.announced == instance) return handlers_fit;
  session.client.announce(where_.service, instance);
  session.announced = std::move(instance);
  return handlers_fit;
}

std::optional<nacos::ServiceView> NacosMembership::first_list() {
  std::unique_lock lock{mutex_};
  if (!std::exchange(waited_, true)) arrived_.wait_for(lock, kFirstList, [this] { return newest_.has_value(); });
  return newest_;
}

Result<MemberList> NacosMembership::refresh(const Announcement& announcement) try {
  Session& session = open_session();
  const bool handlers_fit = announce(session, announcement);
  const auto view = first_list();
  const nacos::Status status = session.client.status();
  const auto registered = session.client.registration(where_.service);
  const bool refused = !registered && registered.error().code == Errc::invalid_argument;
  const bool current = status.state == nacos::State::running && view && view->connection == status.connection;
  if (refused || !current) return tl::make_unexpected(why_no_list(session));
  if (const auto other = other_at_our_address(*view, *session.announced)) {
    return fail(Errc::unavailable, "nacos.members",
                "Nacos already has " + *other + " at " + session.announced->ip + ":" +
                    std::to_string(session.announced->port) +
                    "; over HTTP, each instance needs its own address: give them different ports, or none");
  }
  MemberList list = read_members(*view, settings_);
  std::erase_if(list.members, [this](const Member& member) { return died_on_this_host(member.node, traits_.self); });
  list.handlers_left_out = !handlers_fit;
  list.members = rejoin_grace_.list(std::move(list.members), view->connection, std::chrono::steady_clock::now());
  return list;
} catch (const JsonError& error) {
  return fail(Errc::invalid_argument, "nacos.members", std::string{"the namespace is not valid text: "} + error.what());
}

Error NacosMembership::why_no_list(const Session& session) const {
  const nacos::Status status = session.client.status();
  const auto registered = session.client.registration(where_.service);
  const bool connected = status.state == nacos::State::running;
  std::string detail =
      connected && !registered ? registered.error().detail : "no answer from " + status.server + " yet";
  if (status.last_trouble) detail += "; " + status.last_trouble->detail;
  const bool by_grpc = where_.client.transport != nacos::Transport::http;
  if (!connected) {
    detail += by_grpc ? "; is Nacos running there, and the gRPC port (the HTTP port + 1000) open from here?"
                      : "; is Nacos running there?";
  }
  return {Errc::unavailable, "nacos.members", std::move(detail)};
}

void NacosMembership::leave() {
  if (!session_) return;
  // Without a connection there is nothing to deregister: the server drops us with it.
  if (session_->client.status().state == nacos::State::running) {
    static_cast<void>(session_->client.deregister_instance(where_.service));
  }
  session_.reset();
}

ReservedPort::ReservedPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const bool bound = socket_ >= 0 && bind(socket_, any, size) == 0 && getsockname(socket_, any, &size) == 0;
  number_ = bound ? ntohs(address.sin_port) : 0;
}

ReservedPort::~ReservedPort() {
  if (socket_ >= 0) close(socket_);
}

}  // namespace easyretry::cluster
