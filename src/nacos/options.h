#pragma once
// How a client of Nacos reaches its servers, as options or as a URL, and how it is doing.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/error.h>
#include <easyretry/options.h>
#include <easyretry/time.h>

#include "nacos/instance.h"
#include "nacos/server_address.h"

namespace easyretry::nacos {

struct Credentials {
  std::string username;
  std::string password;
};

// PEM files, for gRPC and, if a server is https://, for HTTP.
struct TlsOptions {
  std::string ca_file{};           // authorities to trust; empty: those of this machine
  std::string certificate_file{};  // with key_file, for mutual TLS
  std::string key_file{};
  std::string server_name{};  // name in the server's certificate, if it is not the host
};

// The defaults are those of Nacos's own clients; servers rely on them.
struct Timings {
  Millis request{3000};     // for the answer to one call
  Millis login{15000};      // for a token: it is costly for servers, and many clients may log in at once
  Millis setup{5000};       // for a server to confirm a new connection
  Millis idle{5000};        // of silence, then a health check is sent; a server evicts a silent client after 20 s
  Millis redo{3000};        // until an unconfirmed change is sent again
  Millis refresh{20000};    // until a subscribed list is read again, plus or minus a quarter, in case a push was lost
  Millis relisten{180000};  // until the list of watched configurations is sent again
  Millis reconnect_step{100};   // more after each round of failed attempts ...
  Millis reconnect_most{5000};  // ... up to this
  Millis relogin{60000};        // minimum between two logins after a refusal
  Millis fallback{10000};       // without a gRPC connection, until HTTP is used instead
  Millis beat{5000};            // heartbeat over HTTP; a server drops the instance after 15 s without one
  Millis poll{2000};            // of each subscribed list over HTTP
};

// The pause before another attempt: longer with each round through the list, and randomised so that clients do not act
// in step.
inline Millis reconnect_pause(std::size_t failures, std::size_t servers, const Timings& timings, base::Random& random) {
  const auto rounds = static_cast<Millis::rep>(failures / servers);
  const Millis whole = rounds < timings.reconnect_most / timings.reconnect_step ? timings.reconnect_step * (rounds + 1)
                                                                                : timings.reconnect_most;
  return Millis{whole.count() / 2 +
                static_cast<Millis::rep>(random.below(static_cast<std::uint64_t>(whole.count()) / 2 + 1))};
}

// The protocol of naming. HTTP has no pushes and is slower to notice that an instance has died: 15 to 20 s.
enum class Transport {
  automatic,  // gRPC, and HTTP while gRPC cannot connect; with TLS, only HTTPS
  grpc,
  http,
};

struct ClientOptions {
  std::vector<ServerAddress> servers{};  // one is used at a time; see parse_servers()
  std::string name_space{};              // the namespace id in Nacos; empty: the default, "public"
  std::string app = "easyretry";         // shown by the server
  std::string client_ip{};               // shown by the server; empty: the local address towards it
  std::optional<Credentials> credentials{};
  std::optional<TlsOptions> tls{};  // nullopt: plain text
  Transport transport = Transport::automatic;
  Timings timings{};
  LogSink log = stderr_log();
};

// Throws std::invalid_argument that says what is wrong and how to correct it.
void validate(const ClientOptions& options);

// The state of a client, for display and to decide how far to trust its lists.
enum class State { connecting, running, stopped };

std::string_view to_string(State state);

struct Status {
  State state = State::connecting;
  std::string server;                   // of the current connection, or of the last attempt
  std::string connection_id;            // given by the server; empty while connecting
  std::uint64_t connection = 0;         // number of the connection: 1 for the first
  std::optional<Instant> last_heard{};  // from any server
  std::optional<Error> last_trouble{};  // the newest; kept after it is resolved
  std::size_t unconfirmed = 0;          // changes that the server has not confirmed yet
};

// A service or a configuration as a URL: nacos://user:password@host:8848,host:8848/orders?group=shop
struct ServiceUrl {
  ClientOptions client;
  ServiceName service;
  std::string cluster = "DEFAULT";  // in which an instance is registered and others are looked up
  std::string ip{};                 // of the instance; empty: the local address towards the first server
  int port = 0;                     // of the instance; 0: a free one
};

struct ConfigUrl {
  ClientOptions client;
  ConfigKey key;
};

// %-escapes are decoded everywhere. Both throw std::invalid_argument that says what is wrong, without the password.
ServiceUrl parse_service_url(std::string_view url);
ConfigUrl parse_config_url(std::string_view url);

}  // namespace easyretry::nacos
