// Thousands of slow handlers at once.

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit/webhook/support.h"

namespace easyretry::webhook {
namespace {

constexpr std::size_t kCalls = 5'000;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsOurs = false;  // most of the memory belongs to the sanitizer
#else
constexpr bool kMemoryIsOurs = true;
#endif

std::size_t threads() {
  const std::filesystem::directory_iterator tasks{"/proc/self/task"};
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

std::size_t resident_bytes() {
  std::ifstream in{"/proc/self/statm"};
  std::size_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Both ends of each connection are in this process.
void allow_descriptors(rlim_t count) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(count, limit.rlim_max));
  setrlimit(RLIMIT_NOFILE, &limit);
  ASSERT_GE(limit.rlim_cur, count) << "this user may not open enough files (ulimit -Hn)";
}

TEST(ManyCalls, AreAllInFlightAtOnceOnOneThreadInBoundedMemory) {
  ASSERT_NO_FATAL_FAILURE(allow_descriptors(2 * kCalls + 200));
  HandlerServer server;
  const std::size_t threads_before = threads();
  const std::size_t memory_before = resident_bytes();
  CallerOptions options{.guard = Guard{{"localhost"}}};
  options.most_per_server = kCalls;
  Caller caller{options};
  std::atomic<std::size_t> answered{0}, told{0};
  // None is answered before all have arrived. They start in thousands, because the kernel queues 4,096 connections that
  // the server has not accepted yet.
  for (std::size_t started = 1; started <= kCalls; ++started) {
    caller.start({.url = server.url("/later", "localhost"), .body = "{}", .timeout = std::chrono::minutes{5}},
                 [&](const CallResult& heard) {
                   answered += heard && heard->status == 200 ? 1 : 0;
                   ++told;
                 });
    if (started % 1'000 != 0) continue;
    ASSERT_TRUE(server.holds(started)) << server.held() << " came, " << told << " ended";
  }
  EXPECT_EQ(caller.in_flight(), kCalls);
  EXPECT_EQ(threads(), threads_before + 1);
  // A call and its connection at both ends.
  if (kMemoryIsOurs) {
    EXPECT_LT(resident_bytes() - memory_before, kCalls * 40 * 1024);
  }
  server.answer();
  ASSERT_TRUE(test::eventually([&] { return told == kCalls; }, kPatience));
  EXPECT_EQ(answered, kCalls);
}

}  // namespace
}  // namespace easyretry::webhook
