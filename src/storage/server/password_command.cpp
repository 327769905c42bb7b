#include "storage/server/password_command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/server/server_error.h"

namespace easyretry::storage::server {
namespace {

using Deadline = std::chrono::steady_clock::time_point;
using Command = std::vector<std::string>;

constexpr std::size_t kMostOutput = 64 * 1024;
constexpr int kBetweenLooks = 5;  // milliseconds

[[noreturn]] void fail(const Command& command, const std::string& why) {
  throw ServerError{Trouble::refused, "the password_command " + command.front() + " " + why};
}

int millis_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

// Both ends of a pipe, which other programs that this process starts do not get.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw ServerError{Trouble::overloaded, "no pipe for the password_command"};
  }
  ~Pipe() {
    ::close(ends_[0]);
    close_input();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int output() const { return ends_[0]; }
  int input() const { return ends_[1]; }
  void close_input() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

// How the program begins: it prints into the pipe, and has nothing else of this process but its environment: no signals
// that it blocks or ignores, and a group of its own, which can be killed as a whole.
class Beginning {
 public:
  explicit Beginning(int output) {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);  // first: the pipe may be one of the others
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Beginning() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  pid_t run(const Command& command) const {
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_t process = 0;
    const int error = posix_spawn(&process, words.front(), &files_, &attributes_, words.data(), environ);
    if (error != 0) fail(command, "cannot be run: " + std::generic_category().message(error));
    return process;
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

// The running program. It is killed if it has not ended by itself.
class Running {
 public:
  Running(const Command& command, Pipe& pipe) : process_(Beginning{pipe.input()}.run(command)) { pipe.close_input(); }
  ~Running() {
    if (ended_) return;
    ::kill(-process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // False: not before the deadline.
  bool wait(Deadline deadline) {
    while (true) {
      int status = 0;
      const pid_t who = ::waitpid(process_, &status, WNOHANG);
      if (who == process_ || (who < 0 && errno == ECHILD)) {
        ended_ = true;
        if (who == process_) status_ = status;
        return true;
      }
      const int left = millis_until(deadline);
      if (left == 0) return false;
      ::poll(nullptr, 0, std::min(left, kBetweenLooks));
    }
  }
  // How it ended; nothing if the application does not keep that (it ignores SIGCHLD, or waits for all its children).
  std::optional<int> status() const { return status_; }

 private:
  const pid_t process_;
  bool ended_ = false;
  std::optional<int> status_;
};

[[noreturn]] void fail_for_its_time(const Command& command, std::chrono::milliseconds patience) {
  fail(command, "has not ended within " + std::to_string(patience.count()) + " ms");
}

// All that it prints.
std::string read_all(int from, const Command& command, std::chrono::milliseconds patience, Deadline deadline) {
  std::string text;
  std::array<char, 4096> some{};
  while (true) {
    pollfd readable{.fd = from, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&readable, 1, millis_until(deadline));
    if (ready == 0) fail_for_its_time(command, patience);
    const auto bytes = ready < 0 ? -1 : ::read(from, some.data(), some.size());
    if (bytes == 0) return text;
    if (bytes < 0 && errno != EINTR) fail(command, "cannot be read: " + std::generic_category().message(errno));
    if (bytes > 0) text.append(some.data(), static_cast<std::size_t>(bytes));
    if (text.size() > kMostOutput) fail(command, "prints more than " + std::to_string(kMostOutput) + " bytes");
  }
}

void check(int status, const Command& command) {
  if (WIFSIGNALED(status)) fail(command, "was ended by signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) fail(command, "ended with exit status " + std::to_string(WEXITSTATUS(status)));
}

}  // namespace

std::string first_line_of(const Command& command, std::chrono::milliseconds patience) {
  const Deadline deadline = std::chrono::steady_clock::now() + patience;
  Pipe pipe;
  Running running{command, pipe};
  std::string line = read_all(pipe.output(), command, patience, deadline);
  if (!running.wait(deadline)) fail_for_its_time(command, patience);
  if (running.status()) check(*running.status(), command);
  line.erase(std::min(line.find('\n'), line.size()));
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) fail(command, "has printed no password");
  return line;
}

}  // namespace easyretry::storage::server
