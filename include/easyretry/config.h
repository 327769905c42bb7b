#pragma once
// Configures an engine without code changes: a YAML file, overridden by EASYRETRY_* environment variables.
//
//   # easyretry.yaml                         // EASYRETRY_WORKERS=32 in the environment overrides the file
//   store: sqlite:retry.db
//   workers: 16
//   defaults: {max_attempts: 16}
//   handlers:
//     payment.pay: {max_duration: 1h, never_retry: [CardRefused]}
//
//   Engine engine{load_config("easyretry.yaml"), ExceptionNames{type<bank::CardRefused>()}};
//   engine.follow("easyretry.yaml");                    // applies changes that need no restart
//   auto pay = engine.retryable("payment.pay", call);   // its entry wins over the code, the code over the defaults
//
// docs/configuration.md lists every key. A file is accepted as a whole or rejected; ConfigError lists everything that
// is wrong with it. Everything here is plain values and pure functions, safe to use from any thread.

#include <initializer_list>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/encryption.h>
#include <easyretry/options.h>
#include <easyretry/policy.h>

#pragma GCC visibility push(default)
namespace easyretry {

// Exception types by name, for `retry_on` and `never_retry` in a configuration file. C++ cannot look up a type by its
// name, so the application registers them:
//
//   const ExceptionNames names{type<bank::TimeoutError>(), type<bank::CardRefused>()};
//   names.find("CardRefused");     // or "bank::CardRefused", or "std::runtime_error": standard types are built in
class ExceptionNames {
 public:
  // Contains the exceptions of the standard library and easyretry::StoreError.
  ExceptionNames();
  ExceptionNames(std::initializer_list<ExceptionType> types);

  // Replaces a type with the same name. Throws std::invalid_argument if the type has no name or no matcher.
  void add(ExceptionType type);

  // Finds a type by its full name, or by a name with some or all namespaces left out if only one type matches.
  // Otherwise throws std::invalid_argument, with similar names and all known ones.
  const ExceptionType& find(std::string_view name) const;

 private:
  std::vector<ExceptionType> types_;
};

// The name of an exception type as written in the file. It is resolved with the application's ExceptionNames.
struct WrittenName {
  std::string name;
  std::string where{};  // "easyretry.yaml:9:17", for messages
  friend bool operator==(const WrittenName& a, const WrittenName& b) { return a.name == b.name; }
};

// The fields of a Policy that the configuration sets.
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

// The settings of one handler, or the defaults for all. Each field comes from the first of these that sets it: the
// handler's own entry, its registration in code, `defaults`, the library.
struct HandlerConfig {
  std::optional<Persist> persist{};
  PolicyPatch policy{};
  std::optional<int> concurrency{};
  std::optional<Millis> timeout{};
  std::optional<CircuitOptions> circuit{};
  std::optional<LimitOptions> limit{};
  std::optional<TaskClass> task_class{};
  std::optional<Millis> keep{};       // 0: `none`
  std::optional<Millis> keep_args{};  // the same
  std::optional<Millis> keep_results{};
  // Only for `easyretry serve`: it calls the handler at this URL and signs the calls with the secrets in this file.
  std::optional<std::string> url{};
  std::optional<std::string> secrets_file{};
  friend bool operator==(const HandlerConfig&, const HandlerConfig&) = default;
};

// The HTTP server of `easyretry serve`. An engine inside an application ignores it.
struct ServerConfig {
  std::string listen = "127.0.0.1:7077";    // address and port; anything but loopback requires TLS
  std::string certificate{};                // PEM files, for TLS
  std::string private_key{};                //
  std::string tokens = "easyretry.tokens";  // file with the hashes of the tokens
  std::string audit{};                      // file that records changes made by operators; empty: no audit log
  std::vector<std::string> hosts{};         // accepted host names, in addition to those of loopback
  std::vector<std::string> namespaces{};    // namespaces to serve, in addition to the engine's
  int requests_per_second = 0;              // per token, or per address without a token; 0: no limit
  std::vector<std::string> may_call{};  // by webhooks, in addition to public addresses: 10.0.0.0/8, billing.internal
  bool allow_plain_http = false;        // on any address; only if nothing but a proxy with TLS can reach it
  bool dashboard = true;                // the web page at /
  friend bool operator==(const ServerConfig&, const ServerConfig&) = default;
};

// Where the alerts that `easyretry serve` sends go (docs/alerts.md). An engine inside an application ignores the
// settings of alerts.
enum class ChannelType { webhook, slack, dingtalk, feishu, wecom, email };

// Where messages go. Fields that a channel type does not use stay empty.
struct AlertChannel {
  ChannelType type = ChannelType::webhook;
  std::string url{};          // email: smtps://, smtp:// (STARTTLS) or smtp+plain://; other types: https://
  std::string secret_file{};  // webhook: one "whsec_…" per line; dingtalk, feishu: the robot's secret
  int per_minute = 10;        // messages; further alerts are counted and sent together

  // E-mail
  std::string user{};
  std::string password_file{};
  std::string from{};
  std::vector<std::string> to{};
  std::string ca_file{};  // PEM: certificate authorities for the server, instead of the system's
  friend bool operator==(const AlertChannel&, const AlertChannel&) = default;
};

// Which problems to alert on, and which channels to use. A threshold of 0 turns that kind of alert off.
struct AlertRule {
  std::vector<std::string> handlers{"*"};    // names; * matches any characters
  std::vector<std::string> namespaces{"*"};  // namespaces, likewise
  std::vector<std::string> channels{};
  int final_failures = 0;  // this many tasks of one handler given up or parked within `window`
  int quarantines = 0;     // likewise for tasks quarantined because they killed their workers
  Millis backlog_age{0};   // a task has been due this long and is not running
  Millis circuit_open{0};  // a circuit of a handler has been open this long
  int failure_rate = 0;    // percent of the attempts within `window` that failed
  int min_attempts = 20;   // the failure rate is ignored below this many
  Millis wait{10'000};     // from the first failure to the message, so that a burst is one message
  Millis window{300'000};  // at most one message per handler and kind in this time
  int samples = 3;         // tasks listed in a message
  friend bool operator==(const AlertRule&, const AlertRule&) = default;
};

struct AlertsConfig {
  std::map<std::string, AlertChannel> channels{};
  std::map<std::string, AlertRule> rules{};
  friend bool operator==(const AlertsConfig&, const AlertsConfig&) = default;
};

// The log on stderr. If anything of it is set, reading the configuration replaces EngineOptions::log.
struct LogConfig {
  std::optional<LogLevel> level{};  // not set: info for `easyretry serve`, warning for an engine inside an application
  std::optional<LogFormat> format{};
  friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

struct Config {
  std::string store = "sqlite:retry.db";
  std::optional<int> shards{};  // not set: from the store URL, or the store's default
  EngineOptions engine{};
  KeyFolder encryption{};  // read when the engine is created; replaces engine.encryption
  HandlerConfig defaults{};
  std::map<std::string, HandlerConfig> handlers{};
  LogConfig log{};
  ServerConfig server{};
  AlertsConfig alerts{};

  // `store`, with `shards` added to it.
  std::string store_url() const;
};

// Lists every problem, one per line: "easyretry.yaml:3:1: workerz: unknown key, did you mean workers?"
class ConfigError : public std::invalid_argument {
 public:
  explicit ConfigError(std::vector<std::string> problems);
  const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  std::vector<std::string> problems_;
};

// Environment variables by name.
using Environment = std::map<std::string, std::string>;
// The variables of this process that begin with EASYRETRY_.
Environment easyretry_environment();

// The library's defaults, overridden by the file, overridden by the environment. nacos://user:password@host/id loads
// the text from Nacos's configuration service instead of a file, and waits up to 3 s for it. Throws ConfigError.
Config load_config(const std::string& file, const Environment& environment = easyretry_environment());

// The same for text; messages name it as `source`.
Config parse_config(std::string_view yaml, std::string_view source = "config", const Environment& environment = {});

// The variable of a key is its path in capitals: EASYRETRY_WORKERS for workers, EASYRETRY_DEFAULTS_MAX_ATTEMPTS for
// defaults.max_attempts. Lists and handlers have no variables. An empty variable counts as not set. An unknown variable
// is an error, unless Kubernetes set it to announce a service. Throws ConfigError and leaves `config` unchanged.
void apply_environment(Config& config, const Environment& environment);

// The policy with the fields of `patch` in place of its own; exception types are added to its own, and an empty list
// removes them. Throws ConfigError for names that are not in `names`.
Policy patched(Policy policy, const PolicyPatch& patch, const ExceptionNames& names = {});

// The policy of a handler: its entry in the file, over the policy it was registered with, over the file's defaults.
// Fields that none of them sets stay unset.
Policy policy_of(const Config& config, const std::string& handler, const Policy& registered,
                 const ExceptionNames& names = {});

// One difference. `live`: a running engine can apply it; otherwise it needs a restart.
struct ConfigChange {
  std::string key;   // "handlers.payment.pay.max_attempts"
  std::string from;  // as in the file; empty if not set; passwords are masked
  std::string to;
  bool live;
  friend bool operator==(const ConfigChange&, const ConfigChange&) = default;
};
std::vector<ConfigChange> compare(const Config& running, const Config& wanted);

// The same configuration as YAML, including the engine's defaults. The passwords in `store` and `membership` and the
// URLs of alert channels are masked, so that the text can be shown.
std::string to_yaml(const Config& config);

}  // namespace easyretry
#pragma GCC visibility pop
