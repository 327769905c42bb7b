#include "cluster/nacos_membership.h"

#include <algorithm>
#include <utility>

#include <easyretry/json_text.h>

#include "cluster/node_name.h"
#include "nacos/local_ip.h"
#include "nacos/members.h"

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;

// The longest that a server takes to notice that a silent client is gone; one that was killed it notices at once.
constexpr Millis kSilentDeath = 28s;
// Clients wait up to 5 s between attempts, and say again after 3 s what was not confirmed.
constexpr Millis kComeBack = 8s;
constexpr Millis kLook = 1s;
constexpr Millis kFirstList = 500ms;  // a server that is there answers sooner

TimePoint wall_clock() {
  return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
}

// Who stands in the list at our address, and not we. By gRPC both would; by HTTP an address is registered once.
std::optional<std::string> rival(const nacos::ServiceView& view, const nacos::Instance& ours) {
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

struct NacosMembership::Line {
  explicit Line(const nacos::ClientOptions& options) : client(options) {}

  nacos::NamingClient client;
  std::optional<nacos::Instance> announced{};
  nacos::Subscription subscription{};  // ends before the client
};

NacosMembership::NacosMembership(nacos::ServiceUrl where, Company company, std::string node)
    : where_(std::move(where)),
      company_(std::move(company)),
      since_(wall_clock()),
      traits_{
          .source = "nacos", .self = std::move(node), .tells = true, .refresh = kLook, .notices_death = kSilentDeath},
      coming_back_(kComeBack) {}

NacosMembership::~NacosMembership() = default;

NacosMembership::Line& NacosMembership::line() {
  if (!line_) {
    line_ = std::make_unique<Line>(where_.client);
    line_->subscription = line_->client.subscribe(
        where_.service, [this](const nacos::ServiceView& view) { take(view); }, where_.cluster);
  }
  return *line_;
}

void NacosMembership::take(const nacos::ServiceView& view) {
  std::function<void()> changed;
  {
    const std::lock_guard lock{mutex_};
    newest_ = view;
    changed = changed_;
  }
  heard_.notify_all();
  if (changed) changed();
}

void NacosMembership::listen(std::function<void()> changed) {
  const std::lock_guard lock{mutex_};
  changed_ = std::move(changed);
}

bool NacosMembership::announce(Line& line, const Word& word) {
  nacos::Instance instance{.ip = where_.ip.empty() ? nacos::local_ip_towards(where_.client.servers.front()) : where_.ip,
                           .port = where_.port != 0 ? where_.port : port_.number(),
                           .cluster = where_.cluster};
  const bool all_told = introduce(instance, company_, {traits_.self, since_, word.says, word.handlers});
  if (line.announced == instance) return all_told;
  line.client.announce(where_.service, instance);
  line.announced = std::move(instance);
  return all_told;
}

std::optional<nacos::ServiceView> NacosMembership::first_list() {
  std::unique_lock lock{mutex_};
  if (!std::exchange(waited_, true)) heard_.wait_for(lock, kFirstList, [this] { return newest_.has_value(); });
  return newest_;
}

Result<Roll> NacosMembership::refresh(const Word& word) try {
  Line& open = line();
  const bool all_told = announce(open, word);
  const auto view = first_list();
  const nacos::Status status = open.client.status();
  const auto registered = open.client.registration(where_.service);
  const bool refused = !registered && registered.error().code == Errc::invalid_argument;
  const bool current = status.state == nacos::State::running && view && view->connection == status.connection;
  if (refused || !current) return tl::make_unexpected(why_no_list(open));
  if (const auto other = rival(*view, *open.announced)) {
    return fail(Errc::unavailable, "nacos.members",
                "Nacos already has " + *other + " at " + open.announced->ip + ":" +
                    std::to_string(open.announced->port) +
                    "; over HTTP, each instance needs its own address: give them different ports, or none");
  }
  Roll roll = call_roll(*view, company_);
  std::erase_if(roll.members, [this](const Member& member) { return died_here(member.node, traits_.self); });
  roll.handlers_left_out = !all_told;
  roll.members = coming_back_.list(std::move(roll.members), view->connection, std::chrono::steady_clock::now());
  return roll;
} catch (const JsonError& error) {
  return fail(Errc::invalid_argument, "nacos.members", std::string{"the namespace is not valid text: "} + error.what());
}

Error NacosMembership::why_no_list(const Line& line) const {
  const nacos::Status status = line.client.status();
  const auto registered = line.client.registration(where_.service);
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
  if (!line_) return;
  // Without a connection there is nothing to take back: the server forgets us with it.
  if (line_->client.status().state == nacos::State::running) {
    static_cast<void>(line_->client.deregister_instance(where_.service));
  }
  line_.reset();
}

}  // namespace easyretry::cluster
