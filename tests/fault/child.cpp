#include "fault/child.h"

#include <csignal>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace easyretry::fault {
namespace {

constexpr int kPatience = 20'000;  // ms

}  // namespace

Child::Child(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  pid_ = fork();
  if (pid_ == 0) {
    dup2(pipe[1], STDOUT_FILENO);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  close(pipe[1]);
  output_ = pipe[0];
  if (pid_ < 0) throw std::runtime_error("no process for " + program);
}

Child::~Child() {
  if (!ended_) kill();
  close(output_);
}

std::string Child::read_line() {
  std::string line;
  pollfd readable{output_, POLLIN, 0};
  for (char c = 0; poll(&readable, 1, kPatience) == 1 && read(output_, &c, 1) == 1;) {
    if (c == '\n') return line;
    line += c;
  }
  return {};
}

int Child::kill() {
  ::kill(pid_, SIGKILL);
  return wait();
}

int Child::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  ended_ = true;
  return status;
}

}  // namespace easyretry::fault
