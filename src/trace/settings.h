#pragma once
// Where spans are sent and how, as the variables OTEL_* say (docs/tracing.md). Pure.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <easyretry/config.h>

#include "engine/spans.h"
#include "http/client.h"

namespace easyretry::trace {

struct Settings {
  std::string url{};                   // of the collector, with its path
  std::vector<std::string> headers{};  // "authorization: Bearer x"; they may be secret
  http::ClientTls tls{};
  Millis timeout{10'000};  // of one request
  std::vector<std::pair<std::string, std::string>> resource{};
  engine::Sampling sampling{};
  std::size_t most_waiting = 2048;  // spans in memory; further ones are dropped
  std::size_t batch = 512;          // spans in one request
  Millis delay{5'000};              // how long a span waits for others
};

// Nullopt: no collector is named, or tracing is switched off; then the other variables are not looked at. Throws
// std::invalid_argument that names the variable and contains no secret. `service`: the name of a service that has none.
std::optional<Settings> read_settings(const Environment& environment, const std::string& service);

// The variables OTEL_* of this process.
Environment otel_environment();

}  // namespace easyretry::trace
