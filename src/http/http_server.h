#pragma once
// An HTTP/1.1 server: one thread that reads and writes for all connections; what is asked for is done elsewhere.
// Whoever is slow, silent or greedy is cut off by the limits and holds up nobody.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "http/admit.h"

namespace easyretry::http {

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any that is free
  // PEM files; empty: no TLS
  std::string certificate{};
  std::string private_key{};

  std::size_t most_connections = 20'000;
  // Of these, whose other end has not shown who it is. One more, and the one that was silent for longest is cut off:
  // whoever holds connections without a token holds them against others like him, and who has one is let in meanwhile.
  std::size_t most_strangers = 5'000;
  std::size_t most_header_bytes = 16'384;
  std::size_t most_body_bytes = 8'388'608;
  std::size_t most_bytes_of_bodies = 268'435'456;   // of all requests that are not answered yet
  std::chrono::milliseconds header_within{10'000};  // from the first byte of a request, or from the connection
  std::chrono::milliseconds body_within{30'000};
  // A body that has come for longer than `slow_start` must have come at this pace so far.
  std::size_t least_bytes_per_second = 16'384;
  std::chrono::milliseconds slow_start{5'000};
  std::chrono::milliseconds write_within{30'000};  // an answer, or a piece of one that has no end
  std::chrono::milliseconds idle{75'000};          // between requests
};

// What is wrong with them, as far as that shows without listening. Throws std::runtime_error as the server does.
void validate(const ServerOptions& options);

class HttpServer {
 public:
  // Listens when this returns. Throws std::runtime_error that names the address and says what to do.
  HttpServer(const ServerOptions& options, Admit admit);
  // Lets in everybody, with bodies of up to most_body_bytes.
  HttpServer(const ServerOptions& options, const Serve& serve);
  ~HttpServer();  // stop at once
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::size_t connections() const;

  // Takes no new connections and no further requests; returns when all requests are answered, or at the end of `drain`.
  void stop(std::chrono::milliseconds drain);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::http
