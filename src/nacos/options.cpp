#include "nacos/options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/url.h"

namespace easyretry::nacos {
namespace {

void require(bool condition, const std::string& otherwise) {
  if (!condition) throw std::invalid_argument("nacos: " + otherwise);
}

void require_file(const std::string& path, const char* name) {
  require(path.empty() || std::filesystem::is_regular_file(path), std::string{"tls."} + name + ": no file " + path);
}

void check(const TlsOptions& tls) {
  require_file(tls.ca_file, "ca_file");
  require_file(tls.certificate_file, "certificate_file");
  require_file(tls.key_file, "key_file");
  require(tls.certificate_file.empty() == tls.key_file.empty(),
          "tls.certificate_file and tls.key_file go together; give both or neither");
}

void check(const Timings& timings) {
  for (const auto& [name, value] : {std::pair{"request", timings.request},
                                    {"login", timings.login},
                                    {"setup", timings.setup},
                                    {"idle", timings.idle},
                                    {"redo", timings.redo},
                                    {"refresh", timings.refresh},
                                    {"relisten", timings.relisten},
                                    {"reconnect_step", timings.reconnect_step},
                                    {"reconnect_most", timings.reconnect_most},
                                    {"relogin", timings.relogin},
                                    {"fallback", timings.fallback},
                                    {"beat", timings.beat},
                                    {"poll", timings.poll}}) {
    require(value > Millis{0}, std::string{"timings."} + name + " must be more than 0");
  }
}

// %-decoded, by name.
class Options {
 public:
  explicit Options(const base::Url& url) {
    for (const auto& [name, value] : url.options) values_.emplace(name, base::percent_decoded(value));
  }

  std::string text(const std::string& name, const std::string& otherwise = {}) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }
  bool on(const std::string& name) const {
    const std::string value = text(name, "off");
    if (value != "on" && value != "off")
      throw std::invalid_argument(name + " must be on or off, not \"" + value + "\"");
    return value == "on";
  }
  int port(const std::string& name) const {
    const std::string value = text(name, "0");
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || number < 0 || number > 65535) {
      throw std::invalid_argument(name + " must be a number from 1 to 65535, not \"" + value + "\"");
    }
    return number;
  }

 private:
  std::map<std::string, std::string> values_;
};

std::optional<Credentials> credentials_in(std::string_view who) {
  const auto colon = who.find(':');
  if (who.empty()) return std::nullopt;
  return Credentials{base::percent_decoded(who.substr(0, colon)),
                     colon == who.npos ? "" : base::percent_decoded(who.substr(colon + 1))};
}

std::optional<TlsOptions> tls_in(const Options& options) {
  TlsOptions tls{.ca_file = options.text("tls_ca"),
                 .certificate_file = options.text("tls_cert"),
                 .key_file = options.text("tls_key"),
                 .server_name = options.text("tls_name")};
  const bool any = !(tls.ca_file + tls.certificate_file + tls.key_file + tls.server_name).empty();
  if (any && !options.on("tls")) throw std::invalid_argument("tls_… needs tls=on");
  return options.on("tls") ? std::optional{tls} : std::nullopt;
}

Transport transport_in(const Options& options) {
  const std::string value = options.text("transport", "auto");
  if (value == "auto") return Transport::automatic;
  if (value == "grpc") return Transport::grpc;
  if (value == "http") return Transport::http;
  throw std::invalid_argument("transport must be auto, grpc or http, not \"" + value + "\"");
}

ClientOptions client_in(std::string_view authority, const Options& options) {
  const auto at = authority.rfind('@');
  const bool has_user = at != authority.npos;
  ClientOptions client{.servers = parse_servers(has_user ? authority.substr(at + 1) : authority),
                       .name_space = options.text("namespace"),
                       .credentials = credentials_in(has_user ? authority.substr(0, at) : std::string_view{}),
                       .tls = tls_in(options)};
  client.transport = transport_in(options);
  for (ServerAddress& server : client.servers) {
    server.grpc_port = options.port("grpc_port");
    server.https = options.on("https");
  }
  validate(client);
  return client;
}

struct ParsedUrl {
  ClientOptions client;
  std::string name;
  std::string group;
  int port;
  Options options;
};

ParsedUrl parse(std::string_view url) try {
  if (!url.starts_with("nacos://")) throw std::invalid_argument("it does not begin with nacos://");
  const base::Url parts = base::split_url(url);
  const std::string_view path = std::string_view{parts.path}.substr(2);
  const auto slash = path.find('/');
  if (slash == path.npos || slash + 1 == path.size()) throw std::invalid_argument("no name after the host");
  const Options options{parts};
  return {client_in(path.substr(0, slash), options), base::percent_decoded(path.substr(slash + 1)),
          options.text("group", "DEFAULT_GROUP"), options.port("port"), options};
} catch (const std::invalid_argument& why) {
  throw std::invalid_argument("\"" + base::without_password(url) + "\": " + why.what() +
                              "; write nacos://user:password@host:8848/name?option=value");
}

void allow_only(std::string_view url, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : base::split_url(url).options) {
    if (std::find(known.begin(), known.end(), name) == known.end()) base::refuse_word("option", name, url, known);
  }
}

}  // namespace

void validate(const ClientOptions& options) {
  require(!options.servers.empty(), "no server; give at least one host:8848");
  require(!options.credentials || !options.credentials->username.empty(), "credentials without a username");
  require(options.log != nullptr, "log is empty; give stderr_log(), or a function that does nothing");
  if (options.tls) check(*options.tls);
  check(options.timings);
}

std::string_view to_string(State state) {
  switch (state) {
    case State::connecting: return "connecting";
    case State::running: return "running";
    case State::stopped: return "stopped";
  }
  return "unknown";
}

ServiceUrl parse_service_url(std::string_view url) {
  ParsedUrl parts = parse(url);
  allow_only(url, {"namespace", "group", "cluster", "ip", "port", "transport", "grpc_port", "https", "tls", "tls_ca",
                   "tls_cert", "tls_key", "tls_name"});
  return {.client = std::move(parts.client),
          .service = {std::move(parts.name), std::move(parts.group)},
          .cluster = parts.options.text("cluster", "DEFAULT"),
          .ip = parts.options.text("ip"),
          .port = parts.port};
}

ConfigUrl parse_config_url(std::string_view url) {
  ParsedUrl parts = parse(url);
  allow_only(url, {"namespace", "group", "grpc_port", "https", "tls", "tls_ca", "tls_cert", "tls_key", "tls_name"});
  return {.client = std::move(parts.client), .key = {std::move(parts.name), std::move(parts.group)}};
}

}  // namespace easyretry::nacos
