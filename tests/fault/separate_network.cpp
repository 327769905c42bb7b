#include "fault/separate_network.h"

#include <cstdio>
#include <stdexcept>

#include <unistd.h>

namespace easyretry::fault {
namespace {

// The address of a card that does not exist: every receiver drops frames to it.
constexpr const char* kNobody = "02:00:00:00:00:01";

void run(const std::string& command) {
  std::FILE* const output = popen((command + " 2>&1").c_str(), "r");
  if (output == nullptr) throw std::runtime_error("cannot run " + command);
  std::string said;
  for (int c = 0; (c = std::fgetc(output)) != EOF;) said += static_cast<char>(c);
  if (pclose(output) == 0) return;
  throw std::runtime_error(command + ": " + said + "a network of its own needs root and iproute2; without them, " +
                           "configure with -DEASYRETRY_NETWORK_TESTS=OFF");
}

std::string ip(const std::string& arguments) {
  return "PATH=$PATH:/usr/sbin:/sbin ip " + arguments;
}

// Four addresses a wire, of those that RFC 2544 sets aside for tests: others of this machine have their own.
std::string address(int wire, int last) {
  constexpr int kWiresPerProcess = 4;
  constexpr int kProcesses = 8192;
  if (wire >= kWiresPerProcess) throw std::logic_error("too many wires");
  const int offset = 4 * (getpid() % kProcesses * kWiresPerProcess + wire) + last;
  return "198." + std::to_string(18 + offset / 65536) + "." + std::to_string(offset / 256 % 256) + "." +
         std::to_string(offset % 256);
}

}  // namespace

// Ends with this process, and with it the network.
SeparateNetwork::SeparateNetwork()
    : keeper_("/usr/bin/setpriv", {"--pdeathsig", "KILL", "/usr/bin/unshare", "--net", "/bin/sh", "-c",
                                   "echo there; exec sleep infinity"}) {
  if (keeper_.read_line() != "there") {
    throw std::runtime_error(
        "no network namespace: that needs root; without it, configure with "
        "-DEASYRETRY_NETWORK_TESTS=OFF");
  }
  run_there("link set lo up");
}

std::unique_ptr<SeparateNetwork::Wire> SeparateNetwork::wire() {
  return std::unique_ptr<Wire>{new Wire{*this, wires_++}};
}

std::vector<std::string> SeparateNetwork::entrance() const {
  return {"/usr/bin/nsenter", "--net", "--target", std::to_string(keeper_.pid())};
}

void SeparateNetwork::run_there(const std::string& command) const {
  run("nsenter --net --target " + std::to_string(keeper_.pid()) + " sh -c '" + ip(command) + "'");
}

SeparateNetwork::Wire::Wire(const SeparateNetwork& network, int number)
    : network_(network),
      device_("er" + std::to_string(getpid()) + "w" + std::to_string(number)),
      here_(address(number, 1)),
      there_(address(number, 2)) {
  run(ip("link add " + device_ + " type veth peer name " + device_ + "t netns " +
         std::to_string(network.keeper_.pid())));
  run(ip("address add " + here_ + "/30 dev " + device_));
  run(ip("link set " + device_ + " up"));
  network.run_there("address add " + there_ + "/30 dev " + device_ + "t");
  network.run_there("link set " + device_ + "t up");
}

int SeparateNetwork::Wire::connect(int server_port) {
  proxies_.push_back(std::make_unique<test::CuttingProxy>(server_port, 1, here_));
  return proxies_.back()->port();
}

SeparateNetwork::Wire::~Wire() {
  try {
    run(ip("link delete " + device_));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());  // it goes with the network
  }
}

void SeparateNetwork::Wire::cut() {
  const std::string to_nobody = std::string{" lladdr "} + kNobody + " nud permanent dev " + device_;
  run(ip("neighbour replace " + there_ + to_nobody));
  network_.run_there("neighbour replace " + here_ + to_nobody + "t");
}

void SeparateNetwork::Wire::heal() {
  run(ip("neighbour delete " + there_ + " dev " + device_));
  network_.run_there("neighbour delete " + here_ + " dev " + device_ + "t");
}

}  // namespace easyretry::fault
