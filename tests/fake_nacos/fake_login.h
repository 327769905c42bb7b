#pragma once
// The part of a Nacos server that speaks HTTP, as far as logging in needs it.

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace easyretry::test {

class FakeLogin {
 public:
  struct Seen {
    std::string path;
    std::string form;
  };
  struct Answer {
    int status;
    std::string body;
  };

  // Called on a thread of its own, one request at a time.
  explicit FakeLogin(std::function<Answer(const Seen&)> answer);
  ~FakeLogin();
  FakeLogin(const FakeLogin&) = delete;
  FakeLogin& operator=(const FakeLogin&) = delete;

  int port() const { return port_; }
  std::vector<Seen> seen() const;

 private:
  void run();
  void serve(int connection);

  const std::function<Answer(const Seen&)> answer_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<Seen> seen_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace easyretry::test
