#pragma once
// A process of a test's own, to be killed for real; at the latest when the test lets go of it.

#include <string>
#include <vector>

#include <sys/types.h>

namespace easyretry::fault {

class Child {
 public:
  Child(const std::string& program, const std::vector<std::string>& arguments);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  // Waits for the next line that it prints; empty if it ends, or is silent for 20 s.
  std::string read_line();

  // Both give its status as waitpid does.
  int kill();
  int wait();

 private:
  pid_t pid_ = 0;
  int output_ = -1;
  bool ended_ = false;
};

}  // namespace easyretry::fault
