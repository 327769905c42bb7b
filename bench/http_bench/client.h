#pragma once
// Clients of a daemon over kept connections.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http_bench/daemon.h"

namespace easyretry::bench {

// One connection; waits for each answer.
class Client {
 public:
  explicit Client(const Daemon& daemon);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The body of the answer. Throws std::runtime_error if the status is not 2xx.
  std::string get(const std::string& target);
  std::string post(const std::string& target, const std::string& body);
  // Any status.
  unsigned post_status(const std::string& target, const std::string& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Many connections, all on the calling thread.
class Connections {
 public:
  Connections(const Daemon& daemon, std::size_t count);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Sends the requests 0 to count - 1, each as soon as a connection is free. Returns how long each answer took, in
  // milliseconds. Throws std::runtime_error if a status is not 2xx.
  std::vector<double> exchange(std::size_t count, const std::function<std::string(std::size_t)>& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The text of a request, with a body if it is a POST.
std::string request_text(const Daemon& daemon, const std::string& line, const std::string& body = {});

// The length of a message, head and body, as EasyRetry writes it; 0 until the head is complete. Parses nothing else:
// the load generator shares processors with the daemon and must not be what is measured.
std::size_t message_length(std::string_view bytes);

}  // namespace easyretry::bench
