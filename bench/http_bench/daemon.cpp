#include "http_bench/daemon.h"

#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace easyretry::bench {
namespace {

namespace fs = std::filesystem;

std::string first_line_of(const fs::path& file) {
  std::ifstream in{file};
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

Daemon::Daemon(const Setting& setting, const std::string& store, const std::string& server, const std::string& config) {
  std::ofstream{setting.folder / "easyretry.yaml"} << "store: " << store << "\nserver: {listen: '127.0.0.1:0'" << server
                                                   << "}\n"
                                                   << config;
  start(setting);
  token_ = first_line_of(setting.folder / "easyretry.tokens.first");
}

Daemon::~Daemon() {
  ::kill(process_, SIGTERM);
  ::waitpid(process_, nullptr, 0);
}

void Daemon::start(const Setting& setting) {
  int output[2];
  if (::pipe2(output, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  process_ = ::fork();
  if (process_ == 0) {
    const int log = ::open((setting.folder / "serve.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(output[1], STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);                          // also if the benchmark is killed
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);  // otherwise it would inherit Asio's sockets
    if (::chdir(setting.folder.c_str()) == 0) ::execl(setting.program.c_str(), "easyretry", "serve", nullptr);
    ::_exit(127);
  }
  ::close(output[1]);
  port_ = printed_port(output[0]);
  ::close(output[0]);
  if (port_ == 0) throw std::runtime_error(setting.program.string() + " serve did not start");
}

// 0 if it ended before it printed its address.
std::uint16_t Daemon::printed_port(int output) const {
  const std::string before = "easyretry serves http://127.0.0.1:";
  std::string said;
  char byte = 0;
  while (::read(output, &byte, 1) == 1) {
    said.push_back(byte);
    const auto found = said.find(before);
    if (byte == '\n' && found != std::string::npos) {
      return static_cast<std::uint16_t>(std::stoi(said.substr(found + before.size())));
    }
  }
  return 0;
}

double Daemon::resident_mib() const {
  std::ifstream status{"/proc/" + std::to_string(process_) + "/status"};
  for (std::string word; status >> word;) {
    if (word != "VmRSS:") continue;
    double kib = 0;
    status >> kib;
    return kib / 1024;
  }
  throw std::runtime_error("the daemon is gone");
}

std::vector<std::string> Daemon::thread_names() const {
  std::vector<std::string> names;
  std::error_code gone;  // a thread may end meanwhile
  for (const auto& thread : fs::directory_iterator{"/proc/" + std::to_string(process_) + "/task", gone}) {
    names.push_back(first_line_of(thread.path() / "comm"));
  }
  return names;
}

}  // namespace easyretry::bench
