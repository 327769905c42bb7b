#include <algorithm>
#include <utility>

#include "nacos/messages.h"
#include "nacos/naming_transports.h"

namespace easyretry::nacos {
namespace {

constexpr Millis kLook{1000};  // maximum between two checks whether HTTP is wanted
constexpr const char* kRegister = "register";

DesiredState::Key key_of(const std::string& service) {
  return {DesiredState::Kind::registration, service};
}

}  // namespace

HttpNaming::HttpNaming(const ClientOptions& options, ServiceViews& views, HttpNamingHooks hooks)
    : options_(options),
      views_(views),
      hooks_(std::move(hooks)),
      client_(options_, stop_.get_token()),
      servers_(options_.servers, random_),
      thread_([this] { run(); }) {}

// --- From any thread

DesiredState::Ticket HttpNaming::announce(const ServiceName& service, const Instance& instance) {
  Registration registration{options_.name_space, service, instance};
  register_call(HttpDialect::v1, registration);  // throws here for invalid UTF-8
  {
    const std::lock_guard lock{mutex_};
    registrations_.insert_or_assign(to_string(service), std::move(registration));
  }
  const auto ticket = desired_.set(key_of(to_string(service)), {kRegister, ""}, {"deregister", ""});
  wake();
  return ticket;
}

DesiredState::Ticket HttpNaming::withdraw(const ServiceName& service) {
  const auto ticket = desired_.withdraw(key_of(to_string(service)));
  wake();
  return ticket;
}

Result<void> HttpNaming::wait(const ServiceName& service, DesiredState::Ticket ticket) {
  return desired_.wait(key_of(to_string(service)), ticket, options_.timings.request);
}

Result<void> HttpNaming::standing(const ServiceName& service) const {
  return desired_.standing(key_of(to_string(service)));
}

void HttpNaming::subscribed(const ServiceName&) {
  wake();
}

Result<ServiceView> HttpNaming::query(const ServiceName& service) {
  const auto current = peer();
  if (!current) return fail(Errc::unavailable, "nacos.list", "no server answers");
  auto instances = client_.list(current->server, current->dialect, service, {});
  if (!instances) return tl::make_unexpected(std::move(instances.error()));
  return ServiceView{.service = service, .instances = *std::move(instances), .connection = status().connection};
}

Status HttpNaming::status() const {
  const std::lock_guard lock{mutex_};
  Status status = status_;
  status.last_heard = client_.last_heard();
  status.unconfirmed = desired_.unconfirmed();
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
      stop_using_http();
      wait_until(std::chrono::steady_clock::now() + std::min(kLook, options_.timings.fallback));
    } else if (const auto current = peer()) {
      use(*current);
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
    // Not wait_until(): new work is no reason to shorten the pause.
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
  if (auto done = client_.log_in_if_due(server); !done) report(done.error());
  const auto dialect = find_dialect(server);
  if (!dialect) return;
  {
    const std::lock_guard lock{mutex_};
    peer_ = {server, *dialect};
    status_.state = State::running;
    status_.connection_id = "http";
    status_.connection = hooks_.number();
    reported_.clear();
  }
  failures_ = 0;
  desired_.forget_confirmations();
  beat_at_ = poll_at_ = std::chrono::steady_clock::now();
  options_.log(LogLevel::info, "nacos: using HTTP with " + to_string(server));
}

// No service is called "probe"; a server that understands the request has the dialect.
std::optional<HttpDialect> HttpNaming::find_dialect(const ServerAddress& server) {
  std::optional<Error> why;
  for (const HttpDialect dialect : {HttpDialect::v3, HttpDialect::v1}) {
    if (auto list = client_.list(server, dialect, {"probe"}, {}); list) {
      return dialect;
    } else if (!why || list.error().detail.find("no right") != std::string::npos) {
      why = std::move(list.error());
    }
  }
  report({Errc::unavailable, why->where, to_string(server) + ": " + why->detail});
  return std::nullopt;
}

// To the server, the registration over gRPC is a different one, so this one is withdrawn.
void HttpNaming::stop_using_http() {
  const auto current = peer();
  if (!current) return;
  for (const DesiredState::Key& key : desired_.confirmed()) {
    if (const auto registration = registration_of(key.name)) {
      static_cast<void>(client_.ask(current->server, deregister_call(current->dialect, *registration)));
    }
  }
  desired_.forget_confirmations();
  options_.log(LogLevel::info, "nacos: no longer using HTTP with " + to_string(current->server));
  const std::lock_guard lock{mutex_};
  peer_.reset();
  status_.state = State::connecting;
}

void HttpNaming::use(const Peer& peer) {
  if (auto done = client_.log_in_if_due(peer.server); !done) report(done.error());
  if (send_desired(peer) && beat(peer) && poll(peer)) {
    wait_until(std::min({desired_.next_due(), beat_at_, poll_at_, std::chrono::steady_clock::now() + kLook}));
  }
}

// This and the next two return false if the server is given up.
bool HttpNaming::send_desired(const Peer& peer) {
  for (const auto& change : desired_.due(std::chrono::steady_clock::now())) {
    const auto registration = registration_of(change.key.name);
    if (!registration) continue;
    const bool on = change.request.type == kRegister;
    auto answer = client_.ask(
        peer.server, on ? register_call(peer.dialect, *registration) : deregister_call(peer.dialect, *registration));
    if (answer) {
      desired_.confirm(change);
      poll_at_ = std::chrono::steady_clock::now();
    } else if (answer.error().code == Errc::invalid_argument) {
      desired_.refuse(change, answer.error());
      options_.log(LogLevel::error, to_string(answer.error()));
    } else {
      desired_.postpone(change, answer.error(), std::chrono::steady_clock::now() + options_.timings.redo);
      return give_up(answer.error());
    }
  }
  return true;
}

bool HttpNaming::beat(const Peer& peer) try {
  if (std::chrono::steady_clock::now() < beat_at_) return true;
  beat_at_ = std::chrono::steady_clock::now() + options_.timings.beat;
  for (const DesiredState::Key& key : desired_.confirmed()) {
    const auto registration = registration_of(key.name);
    if (!registration) continue;
    auto answer = client_.ask(peer.server, beat_call(peer.dialect, *registration));
    if (!answer) return give_up(answer.error());
    if (!read_beat(*answer)) desired_.doubt(key);
  }
  return true;
} catch (const JsonError& error) {
  return give_up({Errc::unavailable, "nacos.beat", std::string{"cannot read the answer: "} + error.what()});
}

bool HttpNaming::poll(const Peer& peer) {
  if (std::chrono::steady_clock::now() < poll_at_) return true;
  poll_at_ = std::chrono::steady_clock::now() + options_.timings.poll;
  for (const ServiceName& service : views_.services()) {
    ServiceInfo info{.view = {.service = service}, .as_of = ++polls_};
    const std::set<std::string> all{""};
    for (const std::string& cluster : peer.dialect == HttpDialect::v1 ? all : views_.clusters(service)) {
      auto part = client_.list(peer.server, peer.dialect, service, cluster);
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
  report(error);
  return false;
}

std::optional<Registration> HttpNaming::registration_of(const std::string& service) const {
  const std::lock_guard lock{mutex_};
  const auto found = registrations_.find(service);
  return found == registrations_.end() ? std::nullopt : std::optional{found->second};
}

void HttpNaming::report(const Error& error) {
  if (stop_.stop_requested()) return;
  bool is_new = false;
  {
    const std::lock_guard lock{mutex_};
    is_new = reported_.insert(error.detail).second;
    status_.last_trouble = error;
  }
  options_.log(is_new ? LogLevel::warning : LogLevel::info, to_string(error));
}

}  // namespace easyretry::nacos
