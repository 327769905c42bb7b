#pragma once

#include <memory>
#include <string>

#include "service/service.h"

namespace easyretry::app {

struct RemoteOptions {
  std::string server;   // "http://127.0.0.1:7077"
  std::string token;    // empty: none
  std::string space;    // empty: the one the token is for, or the daemon's usual one
  std::string ca_file;  // PEM, of whoever vouches for the server's certificate; empty: the system's
};

// A daemon. Throws std::invalid_argument for an address that is none, or one to which a token would travel in the open.
std::unique_ptr<Service> open_remote_service(RemoteOptions options);

}  // namespace easyretry::app
