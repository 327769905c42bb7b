#include "trace/settings.h"

#include <charconv>
#include <stdexcept>
#include <string_view>

#include <unistd.h>

#include <easyretry/version.h>

#include "base/split.h"
#include "base/url.h"
#include "base/utf8.h"

namespace easyretry::trace {
namespace {

constexpr std::string_view kPrefix = "OTEL_";
constexpr std::size_t kMostWaiting = 1'000'000;
constexpr std::size_t kLongestMillis = 3'600'000;

[[noreturn]] void refuse(std::string_view variable, const std::string& why) {
  throw std::invalid_argument(std::string{variable} + ": " + why);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  // Empty: not set.
  std::string_view get(const std::string& name) const {
    const auto found = environment_.find(name);
    return found == environment_.end() ? std::string_view{} : trimmed(found->second);
  }

  // OTEL_EXPORTER_OTLP_TRACES_<NAME>, which comes first, or OTEL_EXPORTER_OTLP_<NAME>; empty: neither is set.
  std::string exporter(const std::string& name) const {
    const std::string own = "OTEL_EXPORTER_OTLP_TRACES_" + name;
    return get(own).empty() ? "OTEL_EXPORTER_OTLP_" + name : own;
  }

  std::size_t number(const std::string& name, std::size_t usual, std::size_t least, std::size_t most) const {
    const std::string_view text = get(name);
    if (text.empty()) return usual;
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
      refuse(name, "write a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
  }

  Millis millis(const std::string& name, Millis usual, std::size_t least) const {
    return Millis{number(name, static_cast<std::size_t>(usual.count()), least, kLongestMillis)};
  }

  // "name=value,name=value"; values are percent-encoded.
  std::vector<std::pair<std::string, std::string>> list(const std::string& name) const {
    std::vector<std::pair<std::string, std::string>> list;
    for (const std::string_view one : base::split(get(name), ',')) {
      if (trimmed(one).empty()) continue;
      const auto equals = one.find('=');
      const std::string_view key = trimmed(one.substr(0, equals));
      if (equals == std::string_view::npos || key.empty()) refuse(name, "write name=value,name=value");
      list.emplace_back(key, decoded(name, trimmed(one.substr(equals + 1))));
    }
    return list;
  }

 private:
  static std::string decoded(const std::string& name, std::string_view text) {
    try {
      return base::percent_decoded(text);
    } catch (const std::invalid_argument&) {
      refuse(name, "a value has a % without two hexadecimal digits; write %25 for it");
    }
  }

  const Environment& environment_;
};

// As OTEL_EXPORTER_OTLP_ENDPOINT says, which has no path of its own; OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is the whole
// URL.
std::string collector(const Variables& variables) {
  const std::string name = variables.exporter("ENDPOINT");
  std::string url{variables.get(name)};
  if (url.empty()) return url;
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    refuse(name, "write the URL of a collector, such as http://localhost:4318");
  }
  if (name.find("_TRACES_") != std::string::npos) return url;
  while (url.ends_with('/')) url.pop_back();
  return url + "/v1/traces";
}

bool is_off(const Variables& variables) {
  if (variables.get("OTEL_SDK_DISABLED") == "true" || variables.get("OTEL_TRACES_EXPORTER") == "none") return true;
  return variables.get(variables.exporter("ENDPOINT")).empty();
}

void check_protocol(const Variables& variables) {
  const std::string_view exporter = variables.get("OTEL_TRACES_EXPORTER");
  if (!exporter.empty() && exporter != "otlp") refuse("OTEL_TRACES_EXPORTER", "only otlp and none are known");
  const std::string name = variables.exporter("PROTOCOL");
  const std::string_view protocol = variables.get(name);
  if (!protocol.empty() && protocol != "http/protobuf") {
    refuse(name, "only http/protobuf is known; collectors take it at port 4318");
  }
}

std::vector<std::string> headers(const Variables& variables) {
  const std::string name = variables.exporter("HEADERS");
  std::vector<std::string> lines;
  for (const auto& [key, value] : variables.list(name)) {
    std::string line = key + ": " + value;
    for (const char c : line) {
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') refuse(name, "a header has a control character");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::pair<std::string, std::string>> resource(const Variables& variables, const std::string& service) {
  std::vector<std::pair<std::string, std::string>> attributes{
      {"service.name", service},
      {"telemetry.sdk.name", "easyretry"},
      {"telemetry.sdk.language", "cpp"},
      {"telemetry.sdk.version", EASYRETRY_VERSION},
  };
  const auto set = [&](const std::string& name, std::string value) {
    for (auto& [known, old] : attributes) {
      if (known == name) return static_cast<void>(old = std::move(value));
    }
    attributes.emplace_back(name, std::move(value));
  };
  for (auto& [name, value] : variables.list("OTEL_RESOURCE_ATTRIBUTES")) set(name, value);
  if (const auto name = variables.get("OTEL_SERVICE_NAME"); !name.empty()) set("service.name", std::string{name});
  return attributes;
}

double ratio(const Variables& variables) {
  constexpr const char* kName = "OTEL_TRACES_SAMPLER_ARG";
  const std::string_view text = variables.get(kName);
  if (text.empty()) return 1;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= 0 && value <= 1) return value;
  refuse(kName, "write a number from 0 to 1");
}

engine::Sampling sampling(const Variables& variables) {
  std::string_view kind = variables.get("OTEL_TRACES_SAMPLER");
  if (kind.empty()) return {};
  constexpr std::string_view kFollows = "parentbased_";
  const bool follows = kind.starts_with(kFollows);
  if (follows) kind.remove_prefix(kFollows.size());
  if (kind == "always_on") return {follows, 1};
  if (kind == "always_off") return {follows, 0};
  if (kind == "traceidratio") return {follows, ratio(variables)};
  refuse("OTEL_TRACES_SAMPLER",
         "write always_on, always_off or traceidratio, or one of them with parentbased_ before it");
}

}  // namespace

std::optional<Settings> read_settings(const Environment& environment, const std::string& service) {
  const Variables variables{environment};
  if (is_off(variables)) return std::nullopt;
  check_protocol(variables);
  Settings settings;
  settings.url = collector(variables);
  settings.headers = headers(variables);
  settings.tls = {std::string{variables.get(variables.exporter("CERTIFICATE"))},
                  std::string{variables.get(variables.exporter("CLIENT_CERTIFICATE"))},
                  std::string{variables.get(variables.exporter("CLIENT_KEY"))}};
  settings.timeout = variables.millis(variables.exporter("TIMEOUT"), settings.timeout, 1);
  settings.resource = resource(variables, service);
  settings.sampling = sampling(variables);
  settings.most_waiting = variables.number("OTEL_BSP_MAX_QUEUE_SIZE", settings.most_waiting, 1, kMostWaiting);
  settings.batch = variables.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", std::min(settings.batch, settings.most_waiting),
                                    1, settings.most_waiting);
  settings.delay = variables.millis("OTEL_BSP_SCHEDULE_DELAY", settings.delay, 0);
  return settings;
}

Environment otel_environment() {
  Environment found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const auto equals = text.find('=');
    if (!text.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

}  // namespace easyretry::trace
