#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "unit/webhook/support.h"

namespace easyretry::webhook {
namespace {

std::string first_line(const std::filesystem::path& file, const std::string& beginning = {}) {
  std::ifstream in{file};
  std::string line;
  while (std::getline(in, line) && !line.starts_with(beginning)) {
  }
  return line;
}

// The mask of signals that the thread with this name blocks; 0 if there is no such thread.
std::uint64_t blocked_by(const std::string& thread) {
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    if (first_line(task.path() / "comm") != thread) continue;
    return std::stoull(first_line(task.path() / "status", "SigBlk:").substr(7), nullptr, 16);
  }
  return 0;
}

TEST(Signals, AreLeftToThreadsOfTheProgram) {
  const Caller caller;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) {
    EXPECT_TRUE(test::eventually([&] { return (blocked_by("er-webhook") >> (signal - 1) & 1) == 1; })) << signal;
  }
}

}  // namespace
}  // namespace easyretry::webhook
