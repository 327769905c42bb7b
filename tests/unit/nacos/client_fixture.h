#pragma once
// Common setup of the client tests.

#include <string>
#include <vector>

#include "fake_nacos/fake_nacos.h"
#include "nacos/config_client.h"
#include "nacos/naming_client.h"
#include "support/eventually.h"
#include "unit/nacos/recorder.h"

namespace easyretry::test {

// Short timings, except for the time that a server has to answer.
inline nacos::Timings quick_timings() {
  return {.request = Millis{2000},
          .login = Millis{2000},
          .setup = Millis{2000},
          .idle = Millis{50},
          .redo = Millis{20},
          .refresh = Millis{3600'000},
          .relisten = Millis{3600'000},
          .reconnect_step = Millis{5},
          .reconnect_most = Millis{50},
          .relogin = Millis{3600'000},
          .fallback = Millis{3600'000},
          .beat = Millis{20},
          .poll = Millis{5}};
}

inline nacos::ClientOptions options_for(const std::vector<const FakeNacos*>& servers) {
  nacos::ClientOptions options{.timings = quick_timings(), .log = [](LogLevel, std::string_view) {}};
  for (const FakeNacos* server : servers) options.servers.push_back(server->address());
  return options;
}

inline bool running(const auto& client) {
  return client.status().state == nacos::State::running;
}

// The body of the last message of the type; empty before the first.
inline std::string last_body(const FakeNacos& server, const std::string& type) {
  const auto seen = server.seen(type);
  return seen.empty() ? "" : seen.back().body;
}

}  // namespace easyretry::test
