#pragma once
// A network of its own for a process, as if on another machine: a namespace, and wires (pairs of veth devices) to this
// one by which servers are reached from there. A cut wire swallows packets both ways and says nothing:
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
  class Wire {
   public:
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    // By this address a process in the separate network finds servers of this machine's loopback ...
    const std::string& host() const { return here_; }
    // ... that were connected to the wire. Gives the port by which it finds this one.
    int connect(int server_port);

    void cut();
    void heal();

   private:
    friend class SeparateNetwork;
    Wire(const SeparateNetwork& network, int number);

    const SeparateNetwork& network_;
    const std::string device_;  // its name here; there it is the same with a t
    const std::string here_;
    const std::string there_;
    std::vector<std::unique_ptr<test::CuttingProxy>> proxies_;
  };

  // Throws std::runtime_error where this process may not make one.
  SeparateNetwork();

  // To be gone before the network.
  std::unique_ptr<Wire> wire();
  // The command that runs a program in it.
  std::vector<std::string> entrance() const;

 private:
  void run_there(const std::string& command) const;

  Child keeper_;  // a network lives as long as a process in it
  int wires_ = 0;
};

}  // namespace easyretry::fault
