#include "nacos/config_client.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nacos/messages.h"
#include "nacos/notifier.h"
#include "nacos/session.h"

namespace easyretry::nacos {
namespace {

constexpr int kMostRounds = 5;  // with a server that always reports differences, before a pause

// The configurations that have listeners, as they were last read. Thread-safe.
class ConfigCache {
 public:
  using Listener = std::function<void(const std::optional<std::string>&)>;

  explicit ConfigCache(Notifier& notifier) : notifier_(notifier) {}

  // If the text is already known, the listener is called at once.
  Notifier::ListenerId add(const ConfigKey& key, Listener listener);
  // Returns true if it was the last listener of the key.
  bool remove(const ConfigKey& key, Notifier::ListenerId id);

  std::vector<KnownConfig> known() const;

  // Marks a text that may have changed and must be read again. take_stale() clears the mark before the text is read, so
  // that a change during the read sets it again.
  void mark_stale(const ConfigKey& key);
  std::vector<ConfigKey> take_stale();
  bool any_stale() const;

  void update(const ConfigKey& key, const ConfigContent& content);

 private:
  struct Entry {
    std::optional<ConfigContent> content{};  // nullopt: not read yet
    bool stale = true;
    std::map<Notifier::ListenerId, Listener> listeners{};
  };

  void notify(Notifier::ListenerId id, const Listener& listener, const ConfigContent& content);

  Notifier& notifier_;
  mutable std::mutex mutex_;
  // Guarded by mutex_
  Notifier::ListenerId last_id_ = 0;
  std::map<ConfigKey, Entry> entries_;
};

Notifier::ListenerId ConfigCache::add(const ConfigKey& key, Listener listener) {
  const std::lock_guard lock{mutex_};
  Entry& entry = entries_[key];
  const auto id = ++last_id_;
  const auto added = entry.listeners.emplace(id, std::move(listener)).first;
  if (entry.content) notify(id, added->second, *entry.content);
  return id;
}

bool ConfigCache::remove(const ConfigKey& key, Notifier::ListenerId id) {
  bool last = false;
  {
    const std::lock_guard lock{mutex_};
    Entry& entry = entries_[key];
    entry.listeners.erase(id);
    last = entry.listeners.empty();
    if (last) entries_.erase(key);
  }
  notifier_.forget(id);  // without the mutex: it waits for a listener, which may need it
  return last;
}

std::vector<KnownConfig> ConfigCache::known() const {
  const std::lock_guard lock{mutex_};
  std::vector<KnownConfig> known;
  for (const auto& [key, entry] : entries_) known.push_back({key, entry.content ? entry.content->md5 : ""});
  return known;
}

void ConfigCache::mark_stale(const ConfigKey& key) {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(key);
  if (found != entries_.end()) found->second.stale = true;
}

std::vector<ConfigKey> ConfigCache::take_stale() {
  const std::lock_guard lock{mutex_};
  std::vector<ConfigKey> keys;
  for (auto& [key, entry] : entries_) {
    if (std::exchange(entry.stale, false)) keys.push_back(key);
  }
  return keys;
}

bool ConfigCache::any_stale() const {
  const std::lock_guard lock{mutex_};
  return std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) { return entry.second.stale; });
}

void ConfigCache::update(const ConfigKey& key, const ConfigContent& content) {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  const bool news = !entry.content || entry.content->text != content.text;
  entry.content = content;
  if (!news) return;
  for (const auto& [id, listener] : entry.listeners) notify(id, listener, content);
}

void ConfigCache::notify(Notifier::ListenerId id, const Listener& listener, const ConfigContent& content) {
  notifier_.deliver(id, [listener, text = content.text] { listener(text); });
}

}  // namespace

class ConfigClient::Impl {
 public:
  explicit Impl(ClientOptions options)
      : options_((validate(options), std::move(options))),
        notifier_(options_.log),
        cache_(notifier_),
        session_(options_, Module::config, hooks()) {}

  // The notifier first, because a listener may be using the session.
  ~Impl() { notifier_.stop(); }

  Result<ConfigContent> read(const ConfigKey& key) try {
    const auto reply = session_.call(config_query(options_.name_space, key));
    if (!reply) return tl::make_unexpected(reply.error());
    return read_config(*reply);
  } catch (const JsonError& error) {
    return fail(Errc::unavailable, "nacos.ConfigQueryRequest", error.what());
  }

  Result<void> publish(const ConfigKey& key, const std::string& text) try {
    return done(session_.ask(config_publish(options_.name_space, key, text)));
  } catch (const JsonError& error) {
    return fail(Errc::invalid_argument, "nacos.ConfigPublishRequest", error.what());
  }

  Result<void> remove(const ConfigKey& key) { return done(session_.ask(config_remove(options_.name_space, key))); }

  Subscription listen(const ConfigKey& key, OnConfig listener) {
    const auto id = cache_.add(key, std::move(listener));
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

  void end_listening(const ConfigKey& key, Notifier::ListenerId id) {
    if (!cache_.remove(key, id)) return;
    {
      const std::lock_guard lock{mutex_};
      ended_.push_back({key, ""});
    }
    session_.wake();
  }

  Instant work() {
    send_ended();
    if (std::chrono::steady_clock::now() >= listen_at_ ||
        (cache_.any_stale() && std::chrono::steady_clock::now() >= retry_at_)) {
      const bool in_sync = synchronize();
      retry_at_ = in_sync ? std::chrono::steady_clock::now() : std::chrono::steady_clock::now() + options_.timings.redo;
      listen_at_ = in_sync ? std::chrono::steady_clock::now() + options_.timings.relisten : retry_at_;
    }
    return cache_.any_stale() ? retry_at_ : listen_at_;
  }

  // Reading alone would miss a change before the server watches the text for us. So we send what we have until the
  // server has no differences.
  bool synchronize() {
    for (int round = 0; round < kMostRounds; ++round) {
      if (!read_stale() || !listen_again()) return false;
      if (!cache_.any_stale()) return true;
    }
    return false;
  }

  bool read_stale() {
    bool all = true;
    bool answered = true;  // after a timeout, the rest is skipped: the session has to check the connection first
    for (const ConfigKey& key : cache_.take_stale()) {
      const auto content = answered ? read(key) : fail(Errc::in_doubt, "", "");
      if (content) {
        cache_.update(key, *content);
        continue;
      }
      cache_.mark_stale(key);
      all = false;
      answered = content.error().code != Errc::in_doubt;
    }
    return all;
  }

  // Returns false if the server could not be asked. Marks texts that differ as stale.
  bool listen_again() try {
    const auto known = cache_.known();
    if (known.empty()) return true;
    const auto body = session_.ask(config_listen(options_.name_space, known, true));
    if (!body) return false;
    for (const ConfigKey& key : read_changed(body->root())) cache_.mark_stale(key);
    return true;
  } catch (const JsonError& error) {
    options_.log(LogLevel::warning, std::string{"nacos: cannot read a list of changes: "} + error.what());
    return false;
  }

  // Sent once, without a retry: if it is lost, the server sends notifications that are ignored.
  void send_ended() {
    std::vector<KnownConfig> ended;
    {
      const std::lock_guard lock{mutex_};
      ended.swap(ended_);
    }
    if (!ended.empty()) (void)session_.ask(config_listen(options_.name_space, ended, false));
  }

  bool receive(const ServerRequest& request) {
    if (request.type == "ClientConfigMetricRequest") return true;
    if (request.type != "ConfigChangeNotifyRequest") return false;
    cache_.mark_stale(read_config_key(request.body.root()));
    session_.wake();
    return true;
  }

  // Fixed after construction
  const ClientOptions options_;

  Notifier notifier_;
  ConfigCache cache_;

  std::mutex mutex_;
  std::vector<KnownConfig> ended_;  // guarded by mutex_

  // Used by the session's thread
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
