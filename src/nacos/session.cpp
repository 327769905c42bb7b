#include "nacos/session.h"

#include <algorithm>

#include "nacos/json_read.h"

namespace easyretry::nacos {

namespace {
constexpr int kHealthTries = 3;
constexpr Millis kBetweenTries{100};

Instant now() {
  return std::chrono::steady_clock::now();
}
}  // namespace

std::string_view to_string(State state) {
  switch (state) {
    case State::connecting: return "connecting";
    case State::running: return "running";
    case State::stopped: return "stopped";
  }
  return "unknown";
}

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
  LinePtr open[2];
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    status_.state = State::stopped;
    open[0] = line_;
    open[1] = attempt_;
  }
  changed_.notify_all();
  // Not under the mutex, which listeners take, and close() waits for them.
  for (const LinePtr& line : open) {
    if (!line) continue;
    line->state->end("stopped");
    line->connection->close();
  }
  thread_.join();
}

void Session::run() {
  while (!stop_.stop_requested()) {
    LinePtr line;
    {
      const std::lock_guard lock{mutex_};
      line = line_;
    }
    if (line) {
      attend(line);
    } else {
      connect();
    }
  }
}

void Session::connect() {
  if (failures_ > 0) {
    // Not wait(): what wakes us for work is no reason to hurry.
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, stop_.get_token(),
                      reconnect_pause(failures_ - 1, servers_.size(), options_.timings, random_), [] { return false; });
  }
  ++failures_;
  if (const LinePtr line = try_next_server()) adopt(line);
}

Session::LinePtr Session::try_next_server() {
  auto line = std::make_shared<Line>();
  line->server = servers_.next();
  line->connection = std::make_shared<Connection>(line->server, options_);
  line->state = std::make_shared<StreamState>();
  if (!begin_attempt(line)) return nullptr;
  auto id = shake_hands(*line->connection, *line->state, listen_on(line), options_, module_);
  if (id) {
    line->id = std::move(*id);
    return line;
  }
  line->connection->close();
  trouble({Errc::unavailable, id.error().where, to_string(line->server) + ": " + id.error().detail});
  return nullptr;
}

bool Session::begin_attempt(const LinePtr& line) {
  const std::lock_guard lock{mutex_};
  if (stopping_) return false;
  attempt_ = line;
  if (!line_) status_.server = to_string(line->server);
  return true;
}

void Session::adopt(const LinePtr& line) {
  line->since = now();
  {
    const std::lock_guard lock{mutex_};
    if (stopping_) return;
    line->number = hooks_.number ? hooks_.number() : status_.connection + 1;
    line_ = line;
    attempt_.reset();
    move_to_.reset();
    told_.clear();
    status_.state = State::running;
    status_.server = to_string(line->server);
    status_.connection_id = line->id;
    status_.connection = line->number;
  }
  changed_.notify_all();
  options_.log(LogLevel::info, "nacos: connected to " + to_string(line->server) + " as " + line->id);
  hooks_.connected(line->number);
}

void Session::attend(const LinePtr& line) {
  if (const auto why = line->state->ended()) return drop(line, *why);
  std::optional<std::string> move_to;
  {
    const std::lock_guard lock{mutex_};
    move_to = std::exchange(move_to_, std::nullopt);
  }
  if (move_to) return move(line, *move_to);
  const Millis idle = options_.timings.idle;
  if (now() >= line->state->check_at(idle)) {
    if (!still_there(*line)) return drop(line, line->state->ended().value_or("the server does not answer"));
  }
  log_in_if_due(*line);
  const Instant next = hooks_.work();
  wait(std::min({next, line->state->check_at(idle), login_.due()}));
}

// The old connection serves until the new one has taken over what hangs on it.
void Session::move(const LinePtr& from, const std::string& host) {
  servers_.prefer(host);
  for (std::size_t i = 0; i < servers_.size() && !stop_.stop_requested(); ++i) {
    const LinePtr line = try_next_server();
    if (!line) continue;
    adopt(line);
    hooks_.work();
    from->connection->close();
    return;
  }
}

void Session::drop(const LinePtr& line, const std::string& why) {
  // One that ends at once, as of a server that is full, counts as a failed attempt.
  if (now() - line->since > options_.timings.idle) failures_ = 1;
  {
    const std::lock_guard lock{mutex_};
    line_.reset();
    if (!stopping_) status_.state = State::connecting;
    status_.connection_id.clear();
    status_.last_heard = line->state->last_heard();
  }
  line->connection->close();
  trouble({Errc::unavailable, "nacos.connection", to_string(line->server) + ": " + why});
}

bool Session::still_there(const Line& line) {
  for (int i = 0; i < kHealthTries; ++i) {
    if (i > 0 && !line.state->pause(Millis{random_.below(static_cast<std::uint64_t>(kBetweenTries.count()))})) break;
    const auto reply = exchange(line, {"HealthCheckRequest", "{}"}, {});
    if (reply && reply->ok()) return true;
    if (line.state->ended()) break;
  }
  return false;
}

void Session::log_in_if_due(const Line& line) {
  if (now() < login_.due()) return;
  if (auto done = login_.renew(line.server, line.state->over()); !done) trouble(done.error());
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

StreamListener Session::listen_on(const LinePtr& line) {
  // Weak: the line owns the connection, which owns the listener.
  const std::weak_ptr<Line> weak = line;
  return {[this, weak](const Message& message) {
            if (const auto open = weak.lock()) receive(*open, message);
          },
          [this, weak](std::string why) {
            if (const auto open = weak.lock()) open->state->end(std::move(why));
            wake();
          }};
}

void Session::receive(Line& line, const Message& message) try {
  line.state->heard();
  if (message.type == "SetupAckRequest") return line.state->confirm();  // it wants no answer
  const auto request = read_server_request(message);
  if (!request) return line.connection->send(not_understood(""));
  bool understood = message.type == "ClientDetectionRequest";
  if (message.type == "ConnectResetRequest") {
    const std::lock_guard lock{mutex_};
    move_to_ = string_at(request->body.root(), "serverIp");
    woken_ = understood = true;
  }
  if (!understood) understood = hooks_.receive(*request, line.number);
  line.connection->send(understood ? acknowledge(*request) : not_understood(request->id));
  changed_.notify_all();
} catch (const JsonError& error) {
  options_.log(LogLevel::warning, "nacos: cannot read a " + message.type + ": " + error.what());
  line.connection->send(not_understood(""));
}

Result<Reply> Session::exchange(const Line& line, Message request, const std::string& token) {
  if (!token.empty()) request.headers["accessToken"] = token;
  auto answer = line.connection->call(request, options_.timings.request);
  if (!answer) {
    line.state->doubt();
    return tl::make_unexpected(std::move(answer.error()));
  }
  line.state->heard();
  auto reply = read_reply(*answer);
  if (reply && reply->lost_connection()) line.state->end("the server no longer knows this connection");
  return reply;
}

Result<Session::LinePtr> Session::wait_for_line(const std::string& request_type) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, options_.timings.request, [this] { return line_ || stopping_; });
  if (line_ && !stopping_) return line_;
  const std::string last = status_.last_trouble ? " (" + to_string(*status_.last_trouble) + ")" : "";
  return fail(Errc::unavailable, "nacos." + request_type, "not connected to any server" + last);
}

Result<Reply> Session::call(const Message& request) {
  const auto line = wait_for_line(request.type);
  if (!line) return tl::make_unexpected(line.error());
  const std::string token = login_.token();
  auto reply = exchange(**line, request, token);
  if (reply && reply->no_right()) {
    const auto replaced = login_.replace(token, (*line)->server, stop_.get_token());
    if (!replaced) trouble(replaced.error());
    if (replaced.value_or(false)) reply = exchange(**line, request, login_.token());
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

void Session::trouble(const Error& error) {
  bool is_new = false;
  {
    const std::lock_guard lock{mutex_};
    if (stopping_) return;
    is_new = told_.insert(error.detail).second;
    status_.last_trouble = error;
  }
  options_.log(is_new ? LogLevel::warning : LogLevel::info, to_string(error));
}

Status Session::status() const {
  const std::lock_guard lock{mutex_};
  Status status = status_;
  if (line_) status.last_heard = line_->state->last_heard();
  return status;
}

}  // namespace easyretry::nacos
