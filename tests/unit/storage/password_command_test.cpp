#include "storage/server/password_command.h"

#include <array>
#include <chrono>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/server/server_error.h"
#include "support/eventually.h"
#include "support/refusal.h"
#include "support/temp_folder.h"

namespace easyretry::storage::server {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string printed_by(const std::string& script) {
  return first_line_of({"/bin/sh", "-c", script}, 60s);
}

std::string command_refusal(const std::string& script, std::chrono::milliseconds patience = 60s) {
  return test::refusal<ServerError>([&] { first_line_of({"/bin/sh", "-c", script}, patience); });
}

TEST(PasswordCommand, TheFirstLineIsThePassword) {
  EXPECT_EQ(printed_by("echo secret; echo more"), "secret");
  EXPECT_EQ(printed_by("printf 'se cret\\r\\n'"), "se cret");
  EXPECT_EQ(printed_by("printf secret"), "secret");
  EXPECT_EQ(printed_by("echo secret; head -c 60000 /dev/zero"), "secret");
}

TEST(PasswordCommand, IsRunWithoutAShell) {
  EXPECT_EQ(first_line_of({"/bin/echo", "$HOME;", "a  b", "*"}), "$HOME; a  b *");
}

TEST(PasswordCommand, AFailureIsNamedWithoutWhatItHasPrinted) {
  EXPECT_THAT(command_refusal("echo hunter2; echo hunter2 >&2; exit 3"),
              AllOf(HasSubstr("/bin/sh ended with exit status 3"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(command_refusal("echo hunter2; kill -9 $$"), AllOf(HasSubstr("by signal 9"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(command_refusal("true"), HasSubstr("no password"));
  EXPECT_THAT(command_refusal("echo; echo hunter2"), AllOf(HasSubstr("no password"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(test::refusal<ServerError>([] { first_line_of({"/nowhere/token"}); }),
              HasSubstr("/nowhere/token cannot be run: No such file"));
}

TEST(PasswordCommand, WhatPrintsWithoutEndIsEnded) {
  EXPECT_THAT(command_refusal("exec cat /dev/zero"), HasSubstr("prints more than 65536 bytes"));
}

TEST(PasswordCommand, OneThatTakesTooLongIsEnded) {
  EXPECT_THAT(command_refusal("exec sleep 600", 100ms), HasSubstr("has not ended within 100 ms"));
  EXPECT_THAT(command_refusal("exec >&-; exec sleep 600", 100ms), HasSubstr("has not ended within 100 ms"));
}

// A pipe with a name ends for its reader when no process has it open for writing.
TEST(PasswordCommand, WhatItHasStartedIsEndedWithIt) {
  const test::TempFolder folder;
  const std::string name = (folder.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(name.c_str(), 0600), 0);
  const int pipe = ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  std::array<char, 64> some{};
  ASSERT_TRUE(test::eventually([&] {  // once more: on a busy machine, it has not started anything in time
    command_refusal("(echo alive; exec sleep 600) > " + name + " & exec sleep 600", 200ms);
    return ::read(pipe, some.data(), some.size()) > 0;
  }));
  EXPECT_TRUE(test::eventually([&] { return ::read(pipe, some.data(), some.size()) == 0; }));
  ::close(pipe);
}

TEST(PasswordCommand, WorksInAProgramThatIgnoresItsChildren) {
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &ignore, &before);
  EXPECT_EQ(printed_by("echo secret"), "secret");
  sigaction(SIGCHLD, &before, nullptr);
}

TEST(PasswordCommand, GetsNoSignalsThatTheProgramBlocks) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  EXPECT_THAT(command_refusal("kill -TERM $$; sleep 600"), HasSubstr("by signal 15"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace easyretry::storage::server
