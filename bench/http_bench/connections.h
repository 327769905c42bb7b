#pragma once
// Connections that are kept, all on the calling thread.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http_bench/daemon.h"

namespace easyretry::bench {

class Connections {
 public:
  Connections(const Daemon& daemon, std::size_t count);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Sends requests number 0 to count - 1, the next as soon as a connection is free. Gives how long each took to be
  // answered, in milliseconds. Throws std::runtime_error for an answer that is not 2xx.
  std::vector<double> exchange(std::size_t count, const std::function<std::string(std::size_t)>& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The text of a request, with a body if it is a POST.
std::string request_text(const Daemon& daemon, const std::string& line, const std::string& body = {});

}  // namespace easyretry::bench
