#pragma once
// A Nacos server for the corner cases of its protocol: on loopback, in this process, with everything in memory. Like
// the real one, it identifies clients by their TCP connections. Thread-safe.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nacos/server_address.h"

namespace easyretry::test {

struct FakeNacosOptions {
  std::string ip = "127.0.0.1";
  bool confirms = true;  // by SetupAckRequest: Nacos 2.3 and newer. Older ones and r-nacos never do
  std::string http{};    // also naming over HTTP: "v1" or "v3"
  // PEM; empty: plain text. With a client_ca it requires a certificate from the client.
  std::string certificate{}, key{}, client_ca{};
};

class FakeNacos {
 public:
  struct Seen {
    std::string peer;  // "ipv4:127.0.0.1:40112"
    std::string type;
    std::string body;
    std::map<std::string, std::string> headers;
  };

  explicit FakeNacos(FakeNacosOptions options = {});
  ~FakeNacos();
  FakeNacos(const FakeNacos&) = delete;
  FakeNacos& operator=(const FakeNacos&) = delete;

  nacos::ServerAddress address() const;
  void stop();   // stops gRPC; drops all of its data except configurations
  void start();  // on the same port
  void stop_http();
  void start_http();
  void forget_http();  // drops registrations over HTTP

  // From now on
  void be_starting(bool starting);
  void end_new_streams(bool end);  // after the setup, like a full server
  void leave_unconfirmed(bool unconfirmed);
  void want_token(std::string token);
  void hold_pushes(bool hold);

  // The next requests of the type
  void answer_with(const std::string& type, int code, int times = 1);
  void ignore(const std::string& type, int times);  // until the client has given up

  // Now
  void send(const std::string& type, const std::string& body);  // to all clients
  void end_streams();
  void forget_clients();  // but keep their connections
  void set_config(const std::string& data_id, const std::string& content);
  void remove_config(const std::string& data_id);

  // Requests that it received, and data that it stores
  std::vector<Seen> seen(const std::string& type) const;
  std::vector<std::string> seen_by_http() const;  // "POST /nacos/v1/ns/instance"
  std::size_t count(const std::string& type) const { return seen(type).size(); }
  std::size_t clients() const;
  std::vector<std::string> instances(const std::string& service) const;  // "10.0.0.1:7070", sorted
  std::string config(const std::string& data_id) const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::test
