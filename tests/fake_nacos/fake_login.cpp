#include "fake_nacos/fake_login.h"

#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace easyretry::test {
namespace {

std::size_t body_size(const std::string& head) {
  constexpr std::string_view kName = "Content-Length: ";
  const auto found = head.find(kName);
  return found == head.npos ? 0 : std::stoul(head.substr(found + kName.size()));
}

// Head and body; empty if the client went away.
std::string read_request(int connection) {
  std::string text;
  for (char part[4096];;) {
    const auto head = text.find("\r\n\r\n");
    if (head != text.npos && text.size() >= head + 4 + body_size(text)) return text;
    const auto size = read(connection, part, sizeof part);
    if (size <= 0) return {};
    text.append(part, static_cast<std::size_t>(size));
  }
}

}  // namespace

FakeLogin::FakeLogin(std::function<Answer(const Seen&)> answer) : answer_(std::move(answer)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, any, size) != 0 || listen(listener_, 8) != 0 || getsockname(listener_, any, &size) != 0) {
    throw std::runtime_error("the fake login cannot listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{[this] { run(); }};
}

FakeLogin::~FakeLogin() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

std::vector<FakeLogin::Seen> FakeLogin::seen() const {
  const std::lock_guard lock{mutex_};
  return seen_;
}

void FakeLogin::run() {
  for (int connection = 0; (connection = accept(listener_, nullptr, nullptr)) >= 0;) {
    serve(connection);
    close(connection);
  }
}

void FakeLogin::serve(int connection) {
  const std::string request = read_request(connection);
  if (request.empty()) return;
  const auto path = request.find(' ') + 1;
  const Seen seen{request.substr(path, request.find(' ', path) - path), request.substr(request.find("\r\n\r\n") + 4)};
  {
    const std::lock_guard lock{mutex_};
    seen_.push_back(seen);
  }
  const Answer answer = answer_(seen);
  const std::string text = "HTTP/1.1 " + std::to_string(answer.status) +
                           " X\r\nConnection: close\r\nContent-Length: " + std::to_string(answer.body.size()) +
                           "\r\n\r\n" + answer.body;
  (void)!send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace easyretry::test
