#pragma once
// A client of one kept connection that waits for each answer.

#include <memory>
#include <string>

#include "http_bench/daemon.h"

namespace easyretry::bench {

class Client {
 public:
  explicit Client(const Daemon& daemon);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The body of the answer. Throws std::runtime_error for one that is not 2xx.
  std::string get(const std::string& target);
  std::string post(const std::string& target, const std::string& body);
  // Any status.
  unsigned post_status(const std::string& target, const std::string& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::bench
