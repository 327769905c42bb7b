#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "http_bench/parts.h"

namespace easyretry::bench {

// A running `easyretry serve` in the setting's folder; its log is in serve.log there.
class Daemon {
 public:
  // `config`: further YAML; `server.listen` is set here.
  Daemon(const Setting& setting, const std::string& store, const std::string& server = {},
         const std::string& config = {});
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  std::uint16_t port() const { return port_; }
  const std::string& token() const { return token_; }

  double resident_mib() const;
  std::vector<std::string> thread_names() const;

 private:
  void start(const Setting& setting);
  std::uint16_t printed_port(int output) const;

  pid_t process_ = -1;
  std::uint16_t port_ = 0;
  std::string token_;
};

}  // namespace easyretry::bench
