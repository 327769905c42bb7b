#include "fake_nacos/fake_http.h"

#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace easyretry::test {
namespace {

std::string header(const std::string& request, const std::string& begin) {
  const auto found = request.find(begin);
  if (found == request.npos) return {};
  const auto from = found + begin.size();
  return request.substr(from, request.find("\r\n", from) - from);
}

std::size_t body_size(const std::string& head) {
  const std::string size = header(head, "Content-Length: ");
  return size.empty() ? 0 : std::stoul(size);
}

FakeHttp::Seen parse(const std::string& request) {
  const auto name_space = request.find(' ');
  std::string path = request.substr(name_space + 1, request.find(' ', name_space + 1) - name_space - 1);
  std::string form = request.substr(request.find("\r\n\r\n") + 4);
  if (const auto question = path.find('?'); question != path.npos) {
    form = path.substr(question + 1);
    path.resize(question);
  }
  return {request.substr(0, name_space), path, form, header(request, "Authorization: Bearer ")};
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

FakeHttp::FakeHttp(std::function<Answer(const Seen&)> answer, int port) : answer_(std::move(answer)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int again = 1;  // at a port that was just in use
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, any, size) != 0 || listen(listener_, 8) != 0 || getsockname(listener_, any, &size) != 0) {
    throw std::runtime_error("the fake login cannot listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{[this] { run(); }};
}

FakeHttp::~FakeHttp() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

std::vector<FakeHttp::Seen> FakeHttp::seen() const {
  const std::lock_guard lock{mutex_};
  return seen_;
}

void FakeHttp::run() {
  for (int connection = 0; (connection = accept(listener_, nullptr, nullptr)) >= 0;) {
    serve(connection);
    close(connection);
  }
}

void FakeHttp::serve(int connection) {
  const std::string request = read_request(connection);
  if (request.empty()) return;
  const Seen seen = parse(request);
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
