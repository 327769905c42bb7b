#pragma once
// An HTTP/1.1 server. One thread reads and writes for all connections; requests are processed on other threads. Limits
// cut off clients that are slow, silent or greedy, so that they do not delay the others.
//
// A request is admitted or refused by its head alone: nothing of the body of a refused request is read.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "http/message.h"

namespace easyretry::http {

struct Admitted {
  Serve serve;  // called once, with the admitted head and its body
  // ServerOptions::most_body_bytes applies as well.
  std::size_t most_body_bytes = std::numeric_limits<std::size_t>::max();
  bool known = true;     // the client is authenticated, or does not have to be
  std::string client{};  // bodies of one client are counted together: see BodyBudget
};

using Admission = std::variant<Admitted, Problem>;

// Called on the server's thread: must not block or throw. `head` has no body yet; `serve` gets it as changed here.
using Admit = std::function<Admission(Request& head)>;

// A request that is answered now, for the log.
struct Answered {
  std::string_view request_id;
  std::string_view request;  // "GET /v1/tasks"; empty if its head could not be read
  std::string_view peer;     // address of the client
  int status = 0;
  std::string_view problem;  // as in Response
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free port
  int listening = -1;      // a socket that listens on this address and port already; the server closes it
  // PEM files; empty: no TLS
  std::string certificate{};
  std::string private_key{};

  std::size_t most_connections = 20'000;
  // Of these, connections without an authenticated request. When one more comes, the one that has been silent longest
  // is cut off: clients without a token displace only each other, and a token is still admitted.
  std::size_t most_unauthenticated = 5'000;
  std::size_t most_header_bytes = 16'384;
  std::size_t most_body_bytes = 8'388'608;
  std::size_t most_bytes_of_bodies = 268'435'456;   // of all requests that are not answered yet
  std::chrono::milliseconds header_within{10'000};  // from the first byte of a request, or of the connection
  std::chrono::milliseconds body_within{30'000};
  // Minimum average rate of a body that has taken longer than `slow_start`.
  std::size_t least_bytes_per_second = 16'384;
  std::chrono::milliseconds slow_start{5'000};
  std::chrono::milliseconds write_within{30'000};  // a response, or one piece of a stream
  std::chrono::milliseconds idle{75'000};          // between requests
  // Called for every response, on the server's thread: must not block or throw.
  std::function<void(const Answered&)> answered = [](const Answered&) {};
};

// Checks the options without listening. Throws std::runtime_error as the server does.
void validate(const ServerOptions& options);

class HttpServer {
 public:
  // Listens when this returns. Throws std::runtime_error that names the address and says what to do.
  HttpServer(const ServerOptions& options, Admit admit);
  // Admits every request, with bodies of up to most_body_bytes.
  HttpServer(const ServerOptions& options, const Serve& serve);
  ~HttpServer();  // stops at once
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::size_t connections() const;

  // Whether the server's thread gets to something new within this time. Not after stop().
  bool responds(std::chrono::milliseconds within) const;

  // Accepts no more connections or requests; returns when all requests are answered, or after `drain`.
  void stop(std::chrono::milliseconds drain);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::http
