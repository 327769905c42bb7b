#include "nacos/http_naming.h"

#include <algorithm>
#include <utility>

#include "nacos/naming_messages.h"

namespace easyretry::nacos {
namespace {

constexpr Millis kLook{1000};  // at most between two questions whether it is wanted
constexpr const char* kRegister = "register";

Wishes::Key key_of(const std::string& service) {
  return {Wishes::Kind::registration, service};
}

Instant now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

HttpNaming::HttpNaming(const ClientOptions& options, ServiceViews& views, HttpNamingHooks hooks)
    : options_(options),
      views_(views),
      hooks_(std::move(hooks)),
      caller_(options_, stop_.get_token()),
      servers_(options_.servers, random_),
      thread_([this] { run(); }) {}

// --- From any thread

Wishes::Ticket HttpNaming::announce(const ServiceName& service, const Instance& instance) {
  Registration registration{options_.space, service, instance};
  register_call(HttpDialect::v1, registration);  // throws for what is no text, here and now
  {
    const std::lock_guard lock{mutex_};
    registrations_.insert_or_assign(to_string(service), std::move(registration));
  }
  const auto ticket = wishes_.want(key_of(to_string(service)), {kRegister, ""}, {"deregister", ""});
  wake();
  return ticket;
}

Wishes::Ticket HttpNaming::no_longer(const ServiceName& service) {
  const auto ticket = wishes_.no_longer(key_of(to_string(service)));
  wake();
  return ticket;
}

Result<void> HttpNaming::wait(const ServiceName& service, Wishes::Ticket ticket) {
  return wishes_.wait(key_of(to_string(service)), ticket, options_.timings.request);
}

Result<void> HttpNaming::standing(const ServiceName& service) const {
  return wishes_.standing(key_of(to_string(service)));
}

void HttpNaming::subscribed(const ServiceName&) {
  wake();
}

Result<ServiceView> HttpNaming::query(const ServiceName& service) {
  const auto with = peer();
  if (!with) return fail(Errc::unavailable, "nacos.list", "no server answers");
  auto instances = caller_.list(with->server, with->dialect, service, {});
  if (!instances) return tl::make_unexpected(std::move(instances.error()));
  return ServiceView{.service = service, .instances = *std::move(instances), .connection = status().connection};
}

Status HttpNaming::status() const {
  const std::lock_guard lock{mutex_};
  Status status = status_;
  status.last_heard = caller_.last_heard();
  status.unconfirmed = wishes_.unconfirmed();
  return status;
}

HttpNaming::~HttpNaming() {
  stop_.request_stop();
  thread_.join();
}

void HttpNaming::wake() {
  {
    const std::lock_guard lock{mutex_};
    woken_ = true;
  }
  changed_.notify_all();
}

std::optional<HttpNaming::Peer> HttpNaming::peer() const {
  const std::lock_guard lock{mutex_};
  return peer_;
}

// --- The thread

void HttpNaming::run() {
  while (!stop_.stop_requested()) {
    if (!hooks_.wanted()) {
      retire();
      wait_until(now() + std::min(kLook, options_.timings.fallback));
    } else if (const auto with = peer()) {
      speak(*with);
    } else {
      look_for_server();
    }
  }
}

void HttpNaming::wait_until(Instant time) {
  std::unique_lock lock{mutex_};
  changed_.wait_until(lock, stop_.get_token(), time, [this] { return woken_; });
  woken_ = false;
}

void HttpNaming::look_for_server() {
  if (failures_ > 0) {
    // Not wait_until(): what wakes us for work is no reason to hurry.
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, stop_.get_token(),
                      reconnect_pause(failures_ - 1, servers_.size(), options_.timings, random_), [] { return false; });
  }
  ++failures_;
  const ServerAddress& server = servers_.next();
  {
    const std::lock_guard lock{mutex_};
    status_.server = to_string(server);
  }
  if (auto done = caller_.log_in_if_due(server); !done) trouble(done.error());
  const auto dialect = greet(server);
  if (!dialect) return;
  {
    const std::lock_guard lock{mutex_};
    peer_ = {server, *dialect};
    status_.state = State::running;
    status_.connection_id = "http";
    status_.connection = hooks_.number();
    told_.clear();
  }
  failures_ = 0;
  wishes_.connection_is_new();
  beat_at_ = poll_at_ = now();
  options_.log(LogLevel::info, "nacos: using HTTP with " + to_string(server));
}

// Nobody is called "probe"; a server that understands the question has the dialect.
std::optional<HttpDialect> HttpNaming::greet(const ServerAddress& server) {
  std::optional<Error> why;
  for (const HttpDialect dialect : {HttpDialect::v3, HttpDialect::v1}) {
    if (auto list = caller_.list(server, dialect, {"probe"}, {}); list) {
      return dialect;
    } else if (!why || list.error().detail.find("no right") != std::string::npos) {
      why = std::move(list.error());
    }
  }
  trouble({Errc::unavailable, why->where, to_string(server) + ": " + why->detail});
  return std::nullopt;
}

// What came by gRPC meanwhile is another registration to the server.
void HttpNaming::retire() {
  const auto with = peer();
  if (!with) return;
  for (const Wishes::Key& key : wishes_.fulfilled()) {
    if (const auto registration = registration_of(key.name)) {
      static_cast<void>(caller_.ask(with->server, deregister_call(with->dialect, *registration)));
    }
  }
  wishes_.connection_is_new();
  options_.log(LogLevel::info, "nacos: no longer using HTTP with " + to_string(with->server));
  const std::lock_guard lock{mutex_};
  peer_.reset();
  status_.state = State::connecting;
}

void HttpNaming::speak(const Peer& peer) {
  if (auto done = caller_.log_in_if_due(peer.server); !done) trouble(done.error());
  if (tell_wishes(peer) && beat(peer) && poll(peer)) {
    wait_until(std::min({wishes_.next_due(), beat_at_, poll_at_, now() + kLook}));
  }
}

// This and the next two: false when the server is given up.
bool HttpNaming::tell_wishes(const Peer& peer) {
  for (const auto& wish : wishes_.due(now())) {
    const auto registration = registration_of(wish.key.name);
    if (!registration) continue;
    const bool on = wish.request.type == kRegister;
    auto answer = caller_.ask(
        peer.server, on ? register_call(peer.dialect, *registration) : deregister_call(peer.dialect, *registration));
    if (answer) {
      wishes_.confirm(wish);
      poll_at_ = now();
    } else if (answer.error().code == Errc::invalid_argument) {
      wishes_.refuse(wish, answer.error());
      options_.log(LogLevel::error, to_string(answer.error()));
    } else {
      wishes_.postpone(wish, answer.error(), now() + options_.timings.redo);
      return give_up(answer.error());
    }
  }
  return true;
}

bool HttpNaming::beat(const Peer& peer) try {
  if (now() < beat_at_) return true;
  beat_at_ = now() + options_.timings.beat;
  for (const Wishes::Key& key : wishes_.fulfilled()) {
    const auto registration = registration_of(key.name);
    if (!registration) continue;
    auto answer = caller_.ask(peer.server, beat_call(peer.dialect, *registration));
    if (!answer) return give_up(answer.error());
    if (!read_beat(*answer)) wishes_.doubt(key);
  }
  return true;
} catch (const JsonError& error) {
  return give_up({Errc::unavailable, "nacos.beat", std::string{"cannot read the answer: "} + error.what()});
}

bool HttpNaming::poll(const Peer& peer) {
  if (now() < poll_at_) return true;
  poll_at_ = now() + options_.timings.poll;
  for (const ServiceName& service : views_.services()) {
    ServiceInfo info{.view = {.service = service}, .as_of = ++polls_};
    const std::set<std::string> all{""};
    for (const std::string& cluster : peer.dialect == HttpDialect::v1 ? all : views_.clusters(service)) {
      auto part = caller_.list(peer.server, peer.dialect, service, cluster);
      if (!part) return give_up(part.error());
      info.view.instances.insert(info.view.instances.end(), part->begin(), part->end());
    }
    views_.update(std::move(info), status().connection);
  }
  return true;
}

bool HttpNaming::give_up(const Error& error) {
  {
    const std::lock_guard lock{mutex_};
    peer_.reset();
    status_.state = State::connecting;
  }
  trouble(error);
  return false;
}

std::optional<Registration> HttpNaming::registration_of(const std::string& service) const {
  const std::lock_guard lock{mutex_};
  const auto found = registrations_.find(service);
  return found == registrations_.end() ? std::nullopt : std::optional{found->second};
}

void HttpNaming::trouble(const Error& error) {
  if (stop_.stop_requested()) return;
  bool is_new = false;
  {
    const std::lock_guard lock{mutex_};
    is_new = told_.insert(error.detail).second;
    status_.last_trouble = error;
  }
  options_.log(is_new ? LogLevel::warning : LogLevel::info, to_string(error));
}

}  // namespace easyretry::nacos
