#pragma once
// Where a daemon is, and how it knows who asks.

#include <filesystem>
#include <string>

namespace easyretry::remote {

struct DaemonAddress {
  std::string url;      // "http://127.0.0.1:7077"
  std::string token;    // empty: none
  std::string space;    // empty: the one the token is for, or the daemon's usual one
  std::string ca_file;  // PEM, of whoever vouches for the daemon's certificate; empty: the system's
};

// The address with nothing after host and port. Throws std::invalid_argument for one that is none, one to which the
// token would travel in the open, and a token or a namespace that is no single line.
DaemonAddress checked(DaemonAddress address);

// Throws std::invalid_argument that names the file, where there is nothing to be read. No name: nothing is meant.
void require_ca_file(const std::string& file);

// The first word of the file. Throws std::invalid_argument that names the file.
std::string read_token(const std::filesystem::path& file);

}  // namespace easyretry::remote
