#pragma once
// A Nacos server for the corners of its protocol: on loopback, in this process, with everything in memory. Like the
// real one it knows clients by their TCP connections. It does what it is told from any thread.

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
  std::string http{};    // naming by HTTP, too: "v1" or "v3"
  // In PEM; none: plain text. With a client_ca it wants to see a certificate of the client's.
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
  void stop();   // gRPC; all that came by it is forgotten but configurations
  void start();  // on the same port
  void stop_http();
  void start_http();
  void forget_http();  // what was registered so

  // From now on
  void be_starting(bool starting);
  void end_new_streams(bool end);  // after the setup, as one that is full
  void leave_unconfirmed(bool unconfirmed);
  void want_token(std::string token);
  void hold_pushes(bool hold);

  // The next requests of the type
  void answer_with(const std::string& type, int code, int times = 1);
  void ignore(const std::string& type, int times);  // until the client has given up

  // Now
  void send(const std::string& type, const std::string& body);  // to all clients
  void end_streams();
  void forget_clients();  // their connections stay
  void set_config(const std::string& data_id, const std::string& content);
  void remove_config(const std::string& data_id);

  // What it has seen and has
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
