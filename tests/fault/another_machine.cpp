// Linked into a process, lets it believe that it runs on another machine, as its environment says:
//
//   MACHINE_CLOCK=-300      the clock is so many seconds ahead; time that only passes is not touched
//   MACHINE_STEP=600        SIGUSR1 puts the clock so many seconds forward, SIGUSR2 puts it back
//   MACHINE_NAME=host-7     what gethostname() says
//
// A program's own functions come before those of the C library, for all of its shared libraries, too.

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace {

time_t seconds_of(const char* variable) {
  const char* const said = std::getenv(variable);
  return said == nullptr ? 0 : std::atol(said);
}

// Asked for before main(), too, so it cannot wait for a constructor of its own.
std::atomic<time_t>& seconds_ahead() {
  static std::atomic<time_t> seconds{seconds_of("MACHINE_CLOCK")};
  return seconds;
}

time_t step = 0;

void put_clock(int signal) {
  seconds_ahead() += signal == SIGUSR1 ? step : -step;
}

const bool steps = [] {
  step = seconds_of("MACHINE_STEP");
  if (step == 0) return false;
  seconds_ahead();  // made here, not in a signal
  struct sigaction action {};
  action.sa_handler = put_clock;
  action.sa_flags = SA_RESTART;
  return sigaction(SIGUSR1, &action, nullptr) == 0 && sigaction(SIGUSR2, &action, nullptr) == 0;
}();

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += seconds_ahead();
  return result;
}

int gettimeofday(timeval* now, void*) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  *now = {precise.tv_sec, precise.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* now) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != nullptr) *now = precise.tv_sec;
  return precise.tv_sec;
}

int gethostname(char* name, size_t size) noexcept {
  utsname real{};
  uname(&real);
  const char* const said = std::getenv("MACHINE_NAME");
  std::strncpy(name, said != nullptr ? said : real.nodename, size);
  return 0;
}
}
