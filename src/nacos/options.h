#pragma once
// How a client of Nacos reaches its servers.

#include <optional>
#include <string>
#include <vector>

#include <easyretry/options.h>
#include <easyretry/time.h>

#include "nacos/server_address.h"

namespace easyretry::nacos {

struct Credentials {
  std::string username;
  std::string password;
};

// Files in PEM. For gRPC and, where a server is https://, for HTTP.
struct TlsOptions {
  std::string ca_file{};           // who vouches for the servers; empty: the authorities of this machine
  std::string certificate_file{};  // with key_file, for servers that want to know us (mutual TLS)
  std::string key_file{};
  std::string server_name{};  // in the server's certificate, if not the host that is dialled
};

// The defaults are those of Nacos's own clients; servers reckon with them.
struct Timings {
  Millis request{3000};        // for the answer to one call
  Millis login{15000};         // for a token: servers make it costly, and many clients may want one at once
  Millis setup{5000};          // for a server to confirm a new connection
  Millis idle{5000};           // of silence, then the server is asked whether it is there; it evicts us after 20 s
  Millis redo{3000};           // until what the server has not confirmed is said again
  Millis refresh{20000};       // until a subscribed list is read again, give or take a quarter, in case a push was lost
  Millis relisten{180000};     // until a server is told again which configurations are listened to
  Millis reconnect_step{100};  // more after each round of failed attempts ...
  Millis reconnect_most{5000};  // ... up to this
  Millis relogin{60000};        // at least between two logins after refusals
  Millis fallback{10000};       // without a connection of gRPC, until HTTP is used instead
  Millis beat{5000};            // by HTTP, to stay registered: a server gives up after 15 s
  Millis poll{2000};            // by HTTP, of each subscribed list
};

// How naming is spoken. HTTP has no pushes and is slower to notice that somebody has died: 15 to 20 s.
enum class Transport {
  automatic,  // gRPC, and HTTP for as long as gRPC does not get through; with TLS only HTTPS
  grpc,
  http,
};

struct ClientOptions {
  std::vector<ServerAddress> servers{};  // one is used at a time; see parse_servers()
  std::string space{};                   // Nacos's namespace id; empty: the default one, "public"
  std::string app = "easyretry";         // shown by the server
  std::string client_ip{};               // shown by the server; empty: the address that leads to it
  std::optional<Credentials> credentials{};
  std::optional<TlsOptions> tls{};  // none: plain text
  Transport transport = Transport::automatic;
  Timings timings{};
  LogSink log = stderr_log();
};

// Throws std::invalid_argument naming what is wrong and what would be right.
void validate(const ClientOptions& options);

}  // namespace easyretry::nacos
