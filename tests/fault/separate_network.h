#pragma once
// A network of its own for a process, as if on another machine: a namespace, and a wire (a pair of veth devices) to
// this one for each server that is to be reached from there. A cut wire swallows packets both ways and says nothing:
// no connection is closed, no link is down, no address unreachable.
//
// Needs root, and ip of iproute2. Everything goes with the object, or with the process.

#include <memory>
#include <string>
#include <vector>

#include "fault/child.h"
#include "support/cutting_proxy.h"

namespace easyretry::fault {

class SeparateNetwork {
 public:
  // To a port of this machine's loopback.
  class Wire {
   public:
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    // Where a process in the separate network finds the server.
    const std::string& host() const { return here_; }
    int port() const { return proxy_->port(); }

    void cut();
    void heal();

   private:
    friend class SeparateNetwork;
    Wire(const SeparateNetwork& network, int number, int server_port);

    const SeparateNetwork& network_;
    const std::string device_;  // its name here; there it is the same with a t
    const std::string here_;
    const std::string there_;
    std::unique_ptr<test::CuttingProxy> proxy_;
  };

  // Throws std::runtime_error where this process may not make one.
  SeparateNetwork();

  // To be made before its processes, and to be gone before it.
  std::unique_ptr<Wire> wire_to(int server_port);
  // What runs a program in it.
  std::vector<std::string> entrance() const;

 private:
  void run_there(const std::string& command) const;

  Child keeper_;  // a network lives as long as a process in it
  int wires_ = 0;
};

}  // namespace easyretry::fault
