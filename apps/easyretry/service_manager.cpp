#include "service_manager.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace easyretry::app {
namespace {

constexpr int kFirstPassed = 3;  // SD_LISTEN_FDS_START

// The number in an environment variable; 0 if there is no number.
long long number_in(const char* variable) {
  const char* text = std::getenv(variable);
  long long number = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

// Children inherit the variables, which are meant for this process alone.
bool is_for_this_process(const char* variable_with_pid) {
  return number_in(variable_with_pid) == ::getpid();
}

// "127.0.0.1:7077", "[::1]:7077"; empty for a socket of another kind.
std::string listening_address_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  int listening = 0;
  socklen_t size_of_int = sizeof(listening);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size_of_int) != 0 || listening == 0 ||
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return "";
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& of_v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &of_v4.sin_addr, text.data(), text.size());
    return fmt::format("{}:{}", text.data(), ntohs(of_v4.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& of_v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &of_v6.sin6_addr, text.data(), text.size());
    return fmt::format("[{}]:{}", text.data(), ntohs(of_v6.sin6_port));
  }
  return "";
}

}  // namespace

// One datagram to the socket in NOTIFY_SOCKET, where a leading '@' stands for the NUL of an abstract socket.
void notify_service_manager(std::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || *path == '\0' || std::strlen(path) >= sizeof(address.sun_path)) return;
  const std::size_t length = std::strlen(path);
  std::memcpy(address.sun_path, path, length);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  ::close(fd);
}

std::optional<Millis> watchdog_interval() {
  const long long micros = number_in("WATCHDOG_USEC");
  const bool is_for_another = std::getenv("WATCHDOG_PID") != nullptr && !is_for_this_process("WATCHDOG_PID");
  if (micros <= 0 || is_for_another) return std::nullopt;
  return std::max(Millis{1}, Millis{micros / 1000 / 4});
}

std::optional<PassedSocket> passed_socket() {
  const long long count = number_in("LISTEN_FDS");
  if (count <= 0 || !is_for_this_process("LISTEN_PID")) return std::nullopt;
  if (count > 1) {
    throw std::runtime_error(fmt::format(
        "{} sockets were passed (LISTEN_FDS), and the daemon listens on one; leave one ListenStream= in the "
        ".socket unit, or put a proxy in front",
        count));
  }
  std::string address = listening_address_of(kFirstPassed);
  if (address.empty()) {
    throw std::runtime_error(
        "the daemon cannot use the socket that was passed (LISTEN_FDS); write ListenStream= with an address and a "
        "port, "
        "such as 127.0.0.1:7077, and no Accept=yes, into the .socket unit");
  }
  ::fcntl(kFirstPassed, F_SETFD, FD_CLOEXEC);
  return PassedSocket{kFirstPassed, std::move(address)};
}

}  // namespace easyretry::app

// A service manager may stop the daemon while it starts. `serve` waits for its signals, but until it has blocked them,
// they would end the process: for 45 ms on a busy machine, mostly spent in constructors of shared libraries. So the
// signals are blocked before those run, and are still pending when `serve` waits. Only the dynamic linker runs earlier,
// for about 5 ms, and has opened nothing.

namespace {

// Sanitizers are not ready yet, hence the plain system call.
__attribute__((no_sanitize("address", "thread", "undefined"))) void hold_signals(int argc, char** argv, char**) {
  if (argc < 2 || std::strcmp(argv[1], "serve") != 0) return;
  constexpr auto bit = [](int signal) { return 1UL << (signal - 1); };
  const unsigned long signals = bit(SIGINT) | bit(SIGTERM) | bit(SIGHUP);
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &signals, nullptr, sizeof signals);
}

using Early = void (*)(int, char**, char**);
__attribute__((section(".preinit_array"), used)) const Early kHoldSignals = hold_signals;

}  // namespace
