// A service manager may stop the daemon while it starts. `serve` waits for its signals, but until it has blocked them,
// they would end the process: for 45 ms on a busy machine, mostly spent in constructors of shared libraries. So the
// signals are blocked before those run, and are still pending when `serve` waits. Only the dynamic linker runs earlier,
// for about 5 ms, and has opened nothing.

#include <csignal>
#include <cstring>

#include <sys/syscall.h>
#include <unistd.h>

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
