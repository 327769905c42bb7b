#pragma once
// What can be said about an engine without touching code: a YAML file, and over it EASYRETRY_* variables.
//
//   # easyretry.yaml                         // EASYRETRY_WORKERS=32 in the environment wins over the file
//   store: sqlite:retry.db
//   workers: 16
//   defaults: {max_attempts: 16}
//   handlers:
//     payment.pay: {max_duration: 1h, never_retry: [CardRefused]}
//
//   Engine engine{load_config("easyretry.yaml"), ExceptionNames{type<bank::CardRefused>()}};
//   engine.follow("easyretry.yaml");                    // what can change while it runs is taken over
//   auto pay = engine.retryable("payment.pay", call);   // by its entry, then its code, then the defaults
//
// Every key is in docs/configuration.md. A file is taken whole or not at all; ConfigError says everything that is wrong
// with it. All of this is plain values and pure functions, safe from any thread.

#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/alerts.h>
#include <easyretry/encryption.h>
#include <easyretry/exception_names.h>
#include <easyretry/options.h>
#include <easyretry/persist.h>
#include <easyretry/policy.h>

namespace easyretry {

// A name as it was written; what it means is known when the application's ExceptionNames are.
struct WrittenName {
  std::string name;
  std::string where{};  // "easyretry.yaml:9:17", for messages
  friend bool operator==(const WrittenName& a, const WrittenName& b) { return a.name == b.name; }
};

// The fields of a Policy that were given.
struct PolicyPatch {
  std::optional<Backoff> backoff{};
  std::optional<int> max_attempts{};
  std::optional<Millis> max_duration{};
  std::optional<TimePoint> deadline{};
  std::optional<std::vector<WrittenName>> retry_on{};
  std::optional<std::vector<WrittenName>> never_retry{};
  std::optional<std::string> success_when{};
  friend bool operator==(const PolicyPatch&, const PolicyPatch&) = default;
};

// What is said about a handler, or about all of them; fields that are not given are somebody else's to say: first the
// handler's own entry is asked, then its registration in code, then `defaults`, then the library.
struct HandlerConfig {
  std::optional<Persist> persist{};
  PolicyPatch policy{};
  std::optional<int> concurrency{};
  std::optional<Millis> timeout{};
  // Of `easyretry serve`: the handler is behind this URL, and calls are signed with the secrets in that file.
  std::optional<std::string> url{};
  std::optional<std::string> secrets_file{};
  friend bool operator==(const HandlerConfig&, const HandlerConfig&) = default;
};

// What `easyretry serve` listens to. An engine in an application does not look at it.
struct ServerConfig {
  std::string listen = "127.0.0.1:7077";    // an address and a port; anything but loopback needs TLS
  std::string certificate{};                // PEM files, for TLS
  std::string private_key{};                //
  std::string tokens = "easyretry.tokens";  // the file with the hashes of the tokens
  std::string audit{};                      // the file that changes by operators are written to; empty: none
  std::vector<std::string> hosts{};         // names by which it may be asked for, beside those of loopback
  std::vector<std::string> spaces{};        // namespaces to be served, beside the engine's
  int requests_per_second = 0;              // of one token, or of one address that has none; 0: no limit
  std::vector<std::string> may_call{};      // by webhooks, beside the Internet: 10.0.0.0/8, billing.internal
  friend bool operator==(const ServerConfig&, const ServerConfig&) = default;
};

struct Config {
  std::string store = "sqlite:retry.db";
  std::optional<int> shards{};  // not given: what the url says, or the store's default
  EngineOptions engine{};
  KeyFolder encryption{};  // read when the engine is made; instead of engine.encryption
  HandlerConfig defaults{};
  std::map<std::string, HandlerConfig> handlers{};
  ServerConfig server{};
  AlertsConfig alerts{};

  // `store`, with `shards` in it.
  std::string store_url() const;
};

// Everything that is wrong, one problem a line: "easyretry.yaml:3:1: workerz: unknown key, did you mean workers?"
class ConfigError : public std::invalid_argument {
 public:
  explicit ConfigError(std::vector<std::string> problems);
  const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  std::vector<std::string> problems_;
};

// Variables by name.
using Environment = std::map<std::string, std::string>;
// This process's variables that begin with EASYRETRY_.
Environment easyretry_environment();

// The library's defaults, over them the file, over it the environment. Instead of a file, nacos://user:password@host/id
// is a text of Nacos's configuration, waited for up to 3 s. Throws ConfigError.
Config load_config(const std::filesystem::path& file, const Environment& environment = easyretry_environment());

// The same for text; `source` is what messages call it.
Config parse_config(std::string_view yaml, std::string_view source = "config", const Environment& environment = {});

// A key's variable is its path in capitals: workers is EASYRETRY_WORKERS, defaults.max_attempts
// EASYRETRY_DEFAULTS_MAX_ATTEMPTS. Lists and handlers have none. An empty variable counts as not set; an unknown one
// is refused, unless it is one of those by which Kubernetes announces a service. Throws ConfigError and leaves `config`
// as it was.
void apply_environment(Config& config, const Environment& environment);

// The policy with the given fields in place of its own. Throws ConfigError for names that `names` does not know.
Policy patched(Policy policy, const PolicyPatch& patch, const ExceptionNames& names = {});

// A handler's policy: what the file says about the handler, over the policy it was registered with; where it was
// registered with none, over the file's defaults.
Policy policy_of(const Config& config, const std::string& handler, const std::optional<Policy>& registered,
                 const ExceptionNames& names = {});

// One difference. `live`: a running engine can take it over; otherwise it needs a restart.
struct ConfigChange {
  std::string key;   // "handlers.payment.pay.max_attempts"
  std::string from;  // as in the file; empty where it is not given; a password in it is masked
  std::string to;
  bool live;
  friend bool operator==(const ConfigChange&, const ConfigChange&) = default;
};
std::vector<ConfigChange> compare(const Config& running, const Config& wanted);

// A file that says the same, defaults of the engine included. The passwords of `store` and `membership` and the urls
// of alert channels are masked, so that it can be shown.
std::string to_yaml(const Config& config);

}  // namespace easyretry
