// Loaded into a process (LD_PRELOAD): its syncs take as long as the file is there that HUNG_SYNC names.

#include <cstdlib>

#include <sys/syscall.h>
#include <unistd.h>

namespace {

void hang() {
  constexpr useconds_t kNap = 5000;
  const char* const file = std::getenv("HUNG_SYNC");
  while (file != nullptr && ::access(file, F_OK) == 0) ::usleep(kNap);
}

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): those of the C library
extern "C" int fsync(int file) {
  hang();
  return static_cast<int>(::syscall(SYS_fsync, file));
}

extern "C" int fdatasync(int file) {
  hang();
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
