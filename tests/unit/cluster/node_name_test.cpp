#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/membership.h"

namespace easyretry::cluster {
namespace {

// The id of a process that has ended.
pid_t dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

std::string node(const std::string& host, pid_t process) {
  return host + ":" + std::to_string(process) + ":1";
}

TEST(NodeName, IsAnotherOneEachTime) {
  EXPECT_NE(make_node(), make_node());
}

TEST(NodeName, OfAnEndedProcessOnThisHostIsDead) {
  EXPECT_TRUE(died_on_this_host(node("host", dead_process()), node("host", getpid())));
  EXPECT_TRUE(died_on_this_host(node("::1", dead_process()), node("::1", getpid())));
}

TEST(NodeName, OfARunningProcessIsNotDead) {
  EXPECT_FALSE(died_on_this_host(node("host", getppid()), node("host", getpid())));
  EXPECT_FALSE(died_on_this_host(node("host", 1), node("host", getpid())));
}

TEST(NodeName, OnAnotherHostIsNeverConsideredDead) {
  EXPECT_FALSE(died_on_this_host(node("other", dead_process()), node("host", getpid())));
}

// Two engines in one process are two members.
TEST(NodeName, OfAnotherInstanceInThisProcessIsNotDead) {
  EXPECT_FALSE(died_on_this_host(make_node(), make_node()));
}

TEST(NodeName, InAnUnknownFormatIsNeverConsideredDead) {
  for (const char* odd : {"", ":", "::", "host", "host:1", "host:x:1", "host:-1:1", "host:99999999999999:1"}) {
    EXPECT_FALSE(died_on_this_host(odd, node("host", getpid()))) << odd;
    EXPECT_FALSE(died_on_this_host(node("host", dead_process()), odd)) << odd;
  }
}

}  // namespace
}  // namespace easyretry::cluster
