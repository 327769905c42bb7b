#pragma once
// The service that a command talks to: a daemon, or a store that this process opens itself. Both are used through the
// API (docs/api.md), so requests, answers and errors are the same.

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <easyretry/config.h>

#include "remote/connection.h"

namespace CLI {
class App;
}
namespace easyretry::remote {
struct NoAnswer;
}

namespace easyretry::app {

enum class Method { get, post, patch };

struct ApiRequest {
  Method method = Method::get;
  std::vector<std::string> path{};             // {"tasks", "17", "cancel"}, under /v1
  std::map<std::string, std::string> query{};  // {"limit", "10"}
  std::string body{};                          // JSON

  bool changes() const { return method != Method::get; }
};

// "/v1/tasks/17/cancel", percent-encoded.
std::string target_of(const ApiRequest& request);

// An error answer of the API. `what()` is for people: the message, and what to do about it with this program.
class ApiError : public std::runtime_error {
 public:
  // `body` is {"error":{"code","message","hint"}}.
  ApiError(int status, const nlohmann::json& body);
  int status() const { return status_; }

 private:
  const int status_;
};

class Service {
 public:
  virtual ~Service() = default;
  // Throws ApiError, or std::runtime_error if there is no answer.
  virtual nlohmann::json ask(const ApiRequest& request) = 0;
};

// The options that select the service.
struct ServiceOptions {
  std::string server = "http://127.0.0.1:7077";
  std::string token_file;
  std::string ca_file;
  std::string store;  // if given, this store is opened, and no daemon is asked
  std::string config;
  std::string name_space;
};

// `options` must live as long as the command.
void add_service_options(CLI::App& command, ServiceOptions& options);
std::unique_ptr<Service> open_service(const ServiceOptions& options);

// The same for a command that only a daemon can answer.
void add_daemon_options(CLI::App& command, ServiceOptions& options);
remote::DaemonAddress daemon_of(const ServiceOptions& options);

// An option of the command line that overrides a key of the configuration.
struct Override {
  std::string option;    // "--listen", for messages
  std::string variable;  // "EASYRETRY_SERVER_LISTEN", which would do the same
  std::string value;     // empty: not given
};

// The configuration that every command uses: the given file, or else easyretry.yaml if it exists; overridden by the
// environment, and then by options. Throws ConfigError, which names the option that is invalid.
Config find_config(const std::string& file, const std::vector<Override>& overrides);

// The same, overridden by the options.
Config config_of(const ServiceOptions& options);

// Opens the configured store, in the namespace of the configured engine. Creates no tables. Throws an exception that
// says why the store cannot be opened.
std::unique_ptr<Service> open_local_service(const Config& config);

// Throws std::invalid_argument if the address is invalid, or if the token would be sent unencrypted.
std::unique_ptr<Service> open_remote_service(remote::DaemonAddress daemon);

// The valid address. Throws std::invalid_argument as open_remote_service() does.
remote::DaemonAddress checked_option(remote::DaemonAddress daemon);

// The answer of a daemon, parsed. Throws ApiError, or std::runtime_error if it is not the answer of a daemon.
nlohmann::json answer_of(const remote::DaemonAddress& daemon, int status, const std::string& body);

// The reason why there is no answer, for people.
std::string no_answer_text(const remote::DaemonAddress& daemon, const remote::NoAnswer& none);

}  // namespace easyretry::app
