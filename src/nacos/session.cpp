#include "nacos/session.h"

#include <algorithm>

#include "nacos/protocol.h"

namespace easyretry::nacos {
namespace {

constexpr int kHealthTries = 3;
constexpr Millis kBetweenTries{100};

}  // namespace

Session::Session(const ClientOptions& options, Module module, SessionHooks hooks)
    : options_((validate(options), options)),
      module_(module),
      hooks_(std::move(hooks)),
      random_(base::random_seed()),
      login_(options_, random_),
      servers_(options_.servers, random_),
      thread_([this] { run(); }) {}

Session::~Session() {
  stop_.request_stop();
  LinkPtr open[2];
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    status_.state = State::stopped;
    open[0] = link_;
    open[1] = attempt_;
  }
  changed_.notify_all();
  // Without the mutex: listeners take it, and close() waits for them.
  for (const LinkPtr& link : open) {
    if (!link) continue;
    link->state->end("stopped");
    link->connection->close();
  }
  thread_.join();
}

void Session::run() {
  while (!stop_.stop_requested()) {
    LinkPtr link;
    {
      const std::lock_guard lock{mutex_};
      link = link_;
    }
    if (link) {
      attend(link);
    } else {
      connect();
    }
  }
}

void Session::connect() {
  if (failures_ > 0) {
    // Not wait(): new work is no reason to shorten the pause.
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, stop_.get_token(),
                      reconnect_pause(failures_ - 1, servers_.size(), options_.timings, random_), [] { return false; });
  }
  ++failures_;
  if (const LinkPtr link = try_next_server()) adopt(link);
}

Session::LinkPtr Session::try_next_server() {
  auto link = std::make_shared<Link>();
  link->server = servers_.next();
  link->connection = std::make_shared<Connection>(link->server, options_);
  link->state = std::make_shared<StreamState>();
  if (!begin_attempt(link)) return nullptr;
  auto id = handshake(*link->connection, *link->state, listen_on(link), options_, module_);
  if (id) {
    link->id = std::move(*id);
    return link;
  }
  link->connection->close();
  report({Errc::unavailable, id.error().where, to_string(link->server) + ": " + id.error().detail});
  return nullptr;
}

bool Session::begin_attempt(const LinkPtr& link) {
  const std::lock_guard lock{mutex_};
  if (stopping_) return false;
  attempt_ = link;
  if (!link_) status_.server = to_string(link->server);
  return true;
}

void Session::adopt(const LinkPtr& link) {
  link->since = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock{mutex_};
    if (stopping_) return;
    link->number = hooks_.number ? hooks_.number() : status_.connection + 1;
    link_ = link;
    attempt_.reset();
    move_to_.reset();
    reported_.clear();
    status_.state = State::running;
    status_.server = to_string(link->server);
    status_.connection_id = link->id;
    status_.connection = link->number;
  }
  changed_.notify_all();
  options_.log(LogLevel::info, "nacos: connected to " + to_string(link->server) + " as " + link->id);
  hooks_.connected(link->number);
}

void Session::attend(const LinkPtr& link) {
  if (const auto why = link->state->ended()) return drop(link, *why);
  std::optional<std::string> move_to;
  {
    const std::lock_guard lock{mutex_};
    move_to = std::exchange(move_to_, std::nullopt);
  }
  if (move_to) return move(link, *move_to);
  const Millis idle = options_.timings.idle;
  if (std::chrono::steady_clock::now() >= link->state->check_at(idle)) {
    if (!still_there(*link)) return drop(link, link->state->ended().value_or("the server does not answer"));
  }
  log_in_if_due(*link);
  const Instant next = hooks_.work();
  wait(std::min({next, link->state->check_at(idle), login_.due()}));
}

// The old connection stays in use until the new one has taken over its registrations and subscriptions.
void Session::move(const LinkPtr& from, const std::string& host) {
  servers_.prefer(host);
  for (std::size_t i = 0; i < servers_.size() && !stop_.stop_requested(); ++i) {
    const LinkPtr link = try_next_server();
    if (!link) continue;
    adopt(link);
    hooks_.work();
    from->connection->close();
    return;
  }
}

void Session::drop(const LinkPtr& link, const std::string& why) {
  // A connection that ends at once, for example because the server is full, counts as a failed attempt.
  if (std::chrono::steady_clock::now() - link->since > options_.timings.idle) failures_ = 1;
  {
    const std::lock_guard lock{mutex_};
    link_.reset();
    if (!stopping_) status_.state = State::connecting;
    status_.connection_id.clear();
    status_.last_heard = link->state->last_heard();
  }
  link->connection->close();
  report({Errc::unavailable, "nacos.connection", to_string(link->server) + ": " + why});
}

bool Session::still_there(const Link& link) {
  for (int i = 0; i < kHealthTries; ++i) {
    if (i > 0 && !link.state->pause(Millis{random_.below(static_cast<std::uint64_t>(kBetweenTries.count()))})) break;
    const auto reply = exchange(link, {"HealthCheckRequest", "{}"}, {});
    if (reply && reply->ok()) return true;
    if (link.state->ended()) break;
  }
  return false;
}

void Session::log_in_if_due(const Link& link) {
  if (std::chrono::steady_clock::now() < login_.due()) return;
  if (auto done = login_.renew(link.server, link.state->over()); !done) report(done.error());
}

void Session::wait(Instant until) {
  std::unique_lock lock{mutex_};
  changed_.wait_until(lock, stop_.get_token(), until, [this] { return woken_; });
  woken_ = false;
}

void Session::wake() {
  {
    const std::lock_guard lock{mutex_};
    woken_ = true;
  }
  changed_.notify_all();
}

StreamListener Session::listen_on(const LinkPtr& link) {
  // Weak: the link owns the connection, which owns the listener.
  const std::weak_ptr<Link> weak = link;
  return {[this, weak](const Message& message) {
            if (const auto open = weak.lock()) receive(*open, message);
          },
          [this, weak](std::string why) {
            if (const auto open = weak.lock()) open->state->end(std::move(why));
            wake();
          }};
}

void Session::receive(Link& link, const Message& message) try {
  link.state->heard();
  if (message.type == "SetupAckRequest") return link.state->confirm();  // needs no answer
  const auto request = read_server_request(message);
  if (!request) return link.connection->send(not_understood(""));
  bool understood = message.type == "ClientDetectionRequest";
  if (message.type == "ConnectResetRequest") {
    const std::lock_guard lock{mutex_};
    move_to_ = string_at(request->body.root(), "serverIp");
    woken_ = understood = true;
  }
  if (!understood) understood = hooks_.receive(*request, link.number);
  link.connection->send(understood ? acknowledge(*request) : not_understood(request->id));
  changed_.notify_all();
} catch (const JsonError& error) {
  options_.log(LogLevel::warning, "nacos: cannot read a " + message.type + ": " + error.what());
  link.connection->send(not_understood(""));
}

Result<Reply> Session::exchange(const Link& link, Message request, const std::string& token) {
  if (!token.empty()) request.headers["accessToken"] = token;
  auto answer = link.connection->call(request, options_.timings.request);
  if (!answer) {
    link.state->doubt();
    return tl::make_unexpected(std::move(answer.error()));
  }
  link.state->heard();
  auto reply = read_reply(*answer);
  if (reply && reply->lost_connection()) link.state->end("the server no longer knows this connection");
  return reply;
}

Result<Session::LinkPtr> Session::wait_for_link(const std::string& request_type) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, options_.timings.request, [this] { return link_ || stopping_; });
  if (link_ && !stopping_) return link_;
  const std::string last = status_.last_trouble ? " (" + to_string(*status_.last_trouble) + ")" : "";
  return fail(Errc::unavailable, "nacos." + request_type, "not connected to any server" + last);
}

Result<Reply> Session::call(const Message& request) {
  const auto link = wait_for_link(request.type);
  if (!link) return tl::make_unexpected(link.error());
  const std::string token = login_.token();
  auto reply = exchange(**link, request, token);
  if (reply && reply->no_right()) {
    const auto replaced = login_.replace(token, (*link)->server, stop_.get_token());
    if (!replaced) report(replaced.error());
    if (replaced.value_or(false)) reply = exchange(**link, request, login_.token());
  }
  if (!reply || reply->lost_connection()) wake();
  return reply;
}

Result<JsonDocument> Session::ask(const Message& request) {
  auto reply = call(request);
  if (!reply) return tl::make_unexpected(std::move(reply.error()));
  if (!reply->ok()) return tl::make_unexpected(error_of(*reply, request.type));
  return std::move(reply->body);
}

void Session::report(const Error& error) {
  bool is_new = false;
  {
    const std::lock_guard lock{mutex_};
    if (stopping_) return;
    is_new = reported_.insert(error.detail).second;
    status_.last_trouble = error;
  }
  options_.log(is_new ? LogLevel::warning : LogLevel::info, to_string(error));
}

Status Session::status() const {
  const std::lock_guard lock{mutex_};
  Status status = status_;
  if (link_) status.last_heard = link_->state->last_heard();
  return status;
}

}  // namespace easyretry::nacos
