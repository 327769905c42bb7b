#pragma once
// A network that fails on command: a TCP proxy in front of a port of a server on loopback.
//
// An order is in force when its call returns, for open and for new connections. Thread-safe. To both sides, a cut looks
// as if the other side had closed the connection: everything forwarded before it arrives, and nothing else.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace easyretry::test {

enum class Direction { to_server, to_client };

// Of an exchange: what a client sends, until the server's next byte.
enum class Lost {
  request,  // the server does not get it
  reply,    // the server has done everything it was sent
};

class CuttingProxy {
 public:
  static constexpr const char* kLoopback = "127.0.0.1";

  explicit CuttingProxy(int server_port, std::uint64_t seed = 1, std::string host = kLoopback);
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  int port() const { return port_; }

  void cut_all();
  // Refuses connections, like a machine where nothing listens.
  void refuse_new();
  void accept_new();

  // Once: the connection that carries the last of the next `bytes` in this direction is cut after it; 0 cuts before the
  // next byte. They are counted over all connections.
  void cut_after(Direction direction, std::size_t bytes);
  // As if the client were killed at that byte: nothing more passes in this direction, and no connection is accepted,
  // until accept_new().
  void die_after(Direction direction, std::size_t bytes);

  // Once: a request that contains this text reaches the server, and the connection is cut when the server has done
  // everything it was sent; its replies are lost. Needs a connection without TLS.
  void lose_reply_to(std::string text);
  // The same for any request, with this probability. The dice of a connection come from the seed and its number, and
  // are thrown once for each reply, however many packets it takes.
  void lose_replies(double probability);
  // Once: after that many exchanges of all connections, the next one is lost, and its connection is cut. For clients
  // that wait for a reply before they send more.
  void lose_after(std::size_t exchanges, Lost what);
  // False: there was nothing to take back, because an exchange was lost.
  bool take_back_loss();

  // A black hole: connections stay, new ones are not answered, nothing passes until thaw().
  void freeze();
  // The same in one direction only. New connections are made, and just as silent.
  void freeze(Direction direction);
  void thaw();

  void set_latency(std::chrono::milliseconds each_way);

  std::size_t open_connections() const;
  std::size_t lost_replies() const;

 private:
  class Connection;
  struct Rules;

  void run();
  void wait_for_work();
  void work();
  void accept_waiting();
  void listen();
  void stop_listening();
  void wake();
  // Changes the rules between two pieces of work.
  template <class Change>
  void order(Change change);

  // Fixed after construction
  const int server_port_;
  const std::uint64_t seed_;
  const std::string host_;  // where it listens
  int port_ = 0;
  int reserved_ = -1;  // bound to the port but not listening, so that no other process takes it while we refuse
  int wake_ = -1;

  mutable std::mutex mutex_;
  // Guarded by mutex_
  int listener_ = -1;
  bool stopping_ = false;
  bool frozen_ = false;
  std::uint64_t accepted_ = 0;
  std::size_t lost_replies_ = 0;
  std::unique_ptr<Rules> rules_;
  std::vector<std::unique_ptr<Connection>> connections_;

  std::thread thread_;
};

}  // namespace easyretry::test
