// Linked into a process, lets it believe that it runs on another machine, as its environment says:
//
//   MACHINE_CLOCK=-300      the clock is so many seconds ahead; time that only passes is not touched
//   MACHINE_NAME=host-7     what gethostname() says
//
// A program's own functions come before those of the C library, for all of its shared libraries, too.

#include <cstdlib>
#include <cstring>
#include <ctime>

#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace {

time_t seconds_ahead() {
  static const time_t seconds = [] {
    const char* const said = std::getenv("MACHINE_CLOCK");
    return said == nullptr ? 0 : std::atol(said);
  }();
  return seconds;
}

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
