#include "nacos/config_client.h"

#include <algorithm>
#include <mutex>

#include "nacos/config_copies.h"
#include "nacos/session.h"

namespace easyretry::nacos {
namespace {

constexpr int kMostRounds = 5;  // with a server that never agrees, before it gets a pause

Instant now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

class ConfigClient::Impl {
 public:
  explicit Impl(ClientOptions options)
      : options_((validate(options), std::move(options))),
        courier_(options_.log),
        copies_(courier_),
        session_(options_, Module::config, hooks()) {}

  // First, because a listener may be using the session.
  ~Impl() { courier_.stop(); }

  Result<ConfigContent> read(const ConfigKey& key) try {
    const auto reply = session_.call(config_query(options_.space, key));
    if (!reply) return tl::make_unexpected(reply.error());
    return read_config(*reply);
  } catch (const JsonError& error) {
    return fail(Errc::unavailable, "nacos.ConfigQueryRequest", error.what());
  }

  Result<void> publish(const ConfigKey& key, const std::string& text) try {
    return done(session_.ask(config_publish(options_.space, key, text)));
  } catch (const JsonError& error) {
    return fail(Errc::invalid_argument, "nacos.ConfigPublishRequest", error.what());
  }

  Result<void> remove(const ConfigKey& key) { return done(session_.ask(config_remove(options_.space, key))); }

  Subscription listen(const ConfigKey& key, OnConfig listener) {
    const auto id = copies_.add(key, std::move(listener));
    session_.wake();
    return Subscription{[this, key, id] { end_listening(key, id); }};
  }

  Status status() const { return session_.status(); }

 private:
  static Result<void> done(const Result<JsonDocument>& answer) {
    if (!answer) return tl::make_unexpected(answer.error());
    return {};
  }

  SessionHooks hooks() {
    return {.number = {},
            .connected = [this](std::uint64_t) { listen_at_ = retry_at_ = Instant::min(); },
            .work = [this] { return work(); },
            .receive = [this](const ServerRequest& request, std::uint64_t) { return receive(request); }};
  }

  void end_listening(const ConfigKey& key, Courier::ListenerId id) {
    if (!copies_.remove(key, id)) return;
    {
      const std::lock_guard lock{mutex_};
      ended_.push_back({key, ""});
    }
    session_.wake();
  }

  Instant work() {
    tell_ended();
    if (now() >= listen_at_ || (copies_.any_stale() && now() >= retry_at_)) {
      const bool agreed = agree();
      retry_at_ = agreed ? now() : now() + options_.timings.redo;
      listen_at_ = agreed ? now() + options_.timings.relisten : retry_at_;
    }
    return copies_.any_stale() ? retry_at_ : listen_at_;
  }

  // Reading alone would miss what changes before the server listens for us; so it is told what we hold until it has
  // nothing else.
  bool agree() {
    for (int round = 0; round < kMostRounds; ++round) {
      if (!read_stale() || !listen_again()) return false;
      if (!copies_.any_stale()) return true;
    }
    return false;
  }

  bool read_stale() {
    bool all = true;
    bool answered = true;  // else the rest would wait in vain, too, and the session looks after the connection first
    for (const ConfigKey& key : copies_.take_stale()) {
      const auto content = answered ? read(key) : fail(Errc::in_doubt, "", "");
      if (content) {
        copies_.update(key, *content);
        continue;
      }
      copies_.mark_stale(key);
      all = false;
      answered = content.error().code != Errc::in_doubt;
    }
    return all;
  }

  // False: the server could not be asked. What differs is marked stale.
  bool listen_again() try {
    const auto held = copies_.held();
    if (held.empty()) return true;
    const auto body = session_.ask(config_listen(options_.space, held, true));
    if (!body) return false;
    for (const ConfigKey& key : read_changed(body->root())) copies_.mark_stale(key);
    return true;
  } catch (const JsonError& error) {
    options_.log(LogLevel::warning, std::string{"nacos: cannot read a list of changes: "} + error.what());
    return false;
  }

  // Once, in a hurry or not at all: the server then sends word of changes that nobody waits for.
  void tell_ended() {
    std::vector<HeldConfig> ended;
    {
      const std::lock_guard lock{mutex_};
      ended.swap(ended_);
    }
    if (!ended.empty()) (void)session_.ask(config_listen(options_.space, ended, false));
  }

  bool receive(const ServerRequest& request) {
    if (request.type == "ClientConfigMetricRequest") return true;
    if (request.type != "ConfigChangeNotifyRequest") return false;
    copies_.mark_stale(read_config_key(request.body.root()));
    session_.wake();
    return true;
  }

  // Fixed after construction
  const ClientOptions options_;

  Courier courier_;
  ConfigCopies copies_;

  std::mutex mutex_;
  std::vector<HeldConfig> ended_;  // guarded by mutex_

  // Of the session's thread
  Instant listen_at_ = Instant::min();
  Instant retry_at_ = Instant::min();  // after a failure

  Session session_;
};

ConfigClient::ConfigClient(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

ConfigClient::~ConfigClient() = default;

Result<std::optional<std::string>> ConfigClient::get(const ConfigKey& key) {
  auto content = impl_->read(key);
  if (!content) return tl::make_unexpected(std::move(content.error()));
  return std::move(content->text);
}

Result<void> ConfigClient::publish(const ConfigKey& key, const std::string& text) {
  return impl_->publish(key, text);
}

Result<void> ConfigClient::remove(const ConfigKey& key) {
  return impl_->remove(key);
}

Subscription ConfigClient::listen(const ConfigKey& key, OnConfig listener) {
  return impl_->listen(key, std::move(listener));
}

Status ConfigClient::status() const {
  return impl_->status();
}

}  // namespace easyretry::nacos
