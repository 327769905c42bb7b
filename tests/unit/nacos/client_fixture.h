#pragma once
// What most tests of the client begin with.

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nacos/config_client.h"
#include "nacos/naming_client.h"
#include "support/eventually.h"
#include "unit/nacos/fake_nacos.h"

namespace easyretry::test {

// What a client has in hours it has here in blinks, but for the time that a server has to answer.
inline nacos::Timings quick_timings() {
  return {.request = Millis{2000},
          .setup = Millis{2000},
          .idle = Millis{50},
          .redo = Millis{20},
          .refresh = Millis{3600'000},
          .relisten = Millis{3600'000},
          .reconnect_step = Millis{5},
          .reconnect_most = Millis{50},
          .relogin = Millis{3600'000}};
}

inline nacos::ClientOptions options_for(const std::vector<const FakeNacos*>& servers) {
  nacos::ClientOptions options{.timings = quick_timings(), .log = [](LogLevel, std::string_view) {}};
  for (const FakeNacos* server : servers) options.servers.push_back(server->address());
  return options;
}

inline bool running(const auto& client) {
  return client.status().state == nacos::State::running;
}

// Of the last message of the type; empty before the first.
inline std::string last_body(const FakeNacos& server, const std::string& type) {
  const auto seen = server.seen(type);
  return seen.empty() ? "" : seen.back().body;
}

// Keeps what listeners were told.
template <class T>
class Told {
 public:
  auto listener() {
    return [this](const T& value) {
      const std::lock_guard lock{mutex_};
      values_.push_back(value);
    };
  }
  std::vector<T> all() const {
    const std::lock_guard lock{mutex_};
    return values_;
  }
  std::size_t count() const { return all().size(); }
  std::optional<T> last() const {
    const std::lock_guard lock{mutex_};
    return values_.empty() ? std::nullopt : std::optional<T>{values_.back()};
  }

 private:
  mutable std::mutex mutex_;
  std::vector<T> values_;
};

// "10.0.0.1:7070 10.0.0.2:7070" of the last view; "nothing" before the first.
inline std::string addresses(const Told<nacos::ServiceView>& told) {
  const auto view = told.last();
  if (!view) return "nothing";
  std::string text;
  for (const auto& instance : view->instances) {
    text += (text.empty() ? "" : " ") + instance.ip + ":" + std::to_string(instance.port);
  }
  return text;
}

}  // namespace easyretry::test
