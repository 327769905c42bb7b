#pragma once
// An HTTP server that answers as the test says.

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace easyretry::test {

class FakeHttp {
 public:
  struct Seen {
    std::string method;
    std::string path;
    std::string form;  // the body of a POST, or the query of other requests
    std::string token{};
  };
  struct Answer {
    int status;
    std::string body;
  };

  // Called on its own thread, one request at a time.
  explicit FakeHttp(std::function<Answer(const Seen&)> answer, int port = 0);  // 0: any
  ~FakeHttp();
  FakeHttp(const FakeHttp&) = delete;
  FakeHttp& operator=(const FakeHttp&) = delete;

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
