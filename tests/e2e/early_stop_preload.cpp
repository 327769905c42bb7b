// For LD_PRELOAD: sends the signal EARLY_STOP to the process before its main() begins.

#include <csignal>
#include <cstdlib>

namespace {

__attribute__((constructor)) void stop_early() {
  const char* const signal = std::getenv("EARLY_STOP");
  if (signal != nullptr) std::raise(std::atoi(signal));
}

}  // namespace
