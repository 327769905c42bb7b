#include "server/listening.h"

#include <algorithm>
#include <stdexcept>

#include <sys/resource.h>

namespace easyretry::server {
namespace {

struct Listen {
  std::string address;
  std::uint16_t port = 0;
};

Listen listen_of(const std::string& text) {
  const auto colon = text.rfind(':');
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  return {std::move(address), static_cast<std::uint16_t>(std::stoi(text.substr(colon + 1)))};
}

bool is_loopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.");
}

// Half of the descriptors are for connections, the other half for the store, webhooks and files: however many connect,
// these go on. A quarter of the connections may be of those who have shown no token.
void fit_to_descriptors(http::ServerOptions& options) {
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0 || descriptors.rlim_cur == RLIM_INFINITY) return;
  options.most_connections = std::min<std::size_t>(options.most_connections, descriptors.rlim_cur / 2);
  options.most_strangers = std::max<std::size_t>(1, options.most_connections / 4);
}

}  // namespace

http::ServerOptions server_options(const ServerConfig& server) {
  const Listen listen = listen_of(server.listen);
  if (server.certificate.empty() != server.private_key.empty()) {
    throw std::invalid_argument("server.certificate and server.private_key go together; give both, or none");
  }
  if (!is_loopback(listen.address) && server.certificate.empty()) {
    throw std::invalid_argument("server.listen is " + server.listen +
                                ", which other machines can reach, and tokens must not be sent unencrypted: give "
                                "server.certificate and server.private_key, or listen on 127.0.0.1 behind a proxy");
  }
  http::ServerOptions options;
  options.address = listen.address;
  options.port = listen.port;
  options.certificate = server.certificate;
  options.private_key = server.private_key;
  fit_to_descriptors(options);
  return options;
}

std::vector<std::string> hosts_of(const ServerConfig& server) {
  std::vector<std::string> hosts{"localhost", "127.0.0.1", "[::1]", listen_of(server.listen).address};
  hosts.insert(hosts.end(), server.hosts.begin(), server.hosts.end());
  return hosts;
}

std::string address_of(const ServerConfig& server, std::uint16_t port) {
  const std::string address = listen_of(server.listen).address;
  const bool v6 = address.find(':') != std::string::npos;
  return std::string{server.certificate.empty() ? "http" : "https"} + "://" + (v6 ? "[" + address + "]" : address) +
         ":" + std::to_string(port);
}

}  // namespace easyretry::server
