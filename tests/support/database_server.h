#pragma once
// Real database servers, run by tests/support/servers.py.

#include <filesystem>
#include <string>

namespace easyretry::test {

enum class ServerKind { postgres, mariadb, redis, redis_cluster };

std::string name_of(ServerKind kind);
// Empty: the usual one. In a cluster, which has no databases, it is a prefix.
std::string server_url(ServerKind kind, int port, const std::string& database = {});

// A separate server for one test, which may kill it. It commits to disk before it answers. It ends with the object, or
// with the process.
class DatabaseServer {
 public:
  explicit DatabaseServer(ServerKind kind);
  ~DatabaseServer();
  DatabaseServer(const DatabaseServer&) = delete;
  DatabaseServer& operator=(const DatabaseServer&) = delete;

  // Kills all its processes at once, like a crash.
  void kill();
  void stop();
  // Again, on the same port.
  void start();

  int port() const { return port_; }
  std::string url() const { return server_url(kind_, port_); }
  std::filesystem::path ca_certificate() const { return folder_ / "tls/ca.crt"; }
  std::filesystem::path data() const { return folder_ / "data"; }
  std::filesystem::path log() const { return folder_ / "log"; }

 private:
  const ServerKind kind_;
  const std::filesystem::path folder_;
  int port_ = 0;
};

// The port of the server that all tests of this build folder use. It does not wait for the disk: leave it alive.
// ctest starts it for tests with the fixture; in a program that you start yourself, the first call does.
int shared_server_port(ServerKind kind);
std::string shared_server_url(ServerKind kind);
// Where stores connect: to that server, or to the pooler before it, whose port is in TEST_STORES_THROUGH
// (tests/engines).
int shared_store_port(ServerKind kind);
std::filesystem::path shared_server_ca(ServerKind kind);

}  // namespace easyretry::test
