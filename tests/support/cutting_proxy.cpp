#include "support/cutting_proxy.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace easyretry::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostWaiting = 1 << 20;  // bytes a sender can be ahead of its receiver

template <class Call>  // bind or connect
bool at(const std::string& host, int port, Call call, int socket) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1 &&
         call(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

int make_socket(int flags = 0) {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
  if (made < 0) throw std::runtime_error("no socket");
  return made;
}

int bound_socket(const std::string& host, int port) {
  const int made = make_socket(SOCK_NONBLOCK);
  const int yes = 1;
  setsockopt(made, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
  if (!at(host, port, bind, made)) throw std::runtime_error("cannot bind " + host + ":" + std::to_string(port));
  return made;
}

// close() alone takes effect only when poll() lets go of the socket.
void close_now(int socket) {
  shutdown(socket, SHUT_RDWR);
  close(socket);
}

int port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

int milliseconds_until(Clock::time_point when) {  // for poll(); -1: never
  if (when == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void send_at_once(int socket) {
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

struct CuttingProxy::Rules {
  std::optional<std::size_t>& until_cut(Direction direction) {
    return direction == Direction::to_server ? until_cut_to_server : until_cut_to_client;
  }

  std::optional<std::size_t> until_cut_to_server;
  std::optional<std::size_t> until_cut_to_client;
  bool for_good = false;  // a cut is
  std::string lose_reply_to;
  struct Loss {
    std::size_t exchanges;  // before it
    Lost what;
  };
  std::optional<Loss> loss;
  double lose_probability = 0;
  std::chrono::milliseconds latency{0};
  std::optional<Direction> frozen;
};

// open ──► losing ──► over         losing: the server gets what was sent, then our end of file, and answers into the
// void
//   └───────────────► over
class CuttingProxy::Connection {
 public:
  Connection(int client, int server, std::uint64_t seed) : client_(client), server_(server), random_(seed) {
    send_at_once(client);
    send_at_once(server);
  }
  ~Connection() {
    close_now(client_);
    close_now(server_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool over() const { return over_; }
  bool lost_reply() const { return losing_ && over_; }

  void work(Rules& rules) {
    read(to_server_, rules);
    read(to_client_, rules);
    write(to_server_, rules);
    write(to_client_, rules);
    over_ = over_ || (to_server_.closed && to_client_.closed) || (losing_ && to_client_.ended);
  }

  // Adds the events it waits for; returns when it next has something to do by itself.
  Clock::time_point wait(std::vector<pollfd>& list, const Rules& rules) const {
    auto wake = Clock::time_point::max();
    for (const Flow* flow : {&to_server_, &to_client_}) {
      if (may_read(*flow, rules)) list.push_back({flow->from, POLLIN, 0});
      if (flow->blocked) {
        list.push_back({flow->to, POLLOUT, 0});
      } else if (!flow->chunks.empty()) {
        wake = std::min(wake, flow->chunks.front().due);
      }
    }
    return wake;
  }

 private:
  struct Chunk {
    Clock::time_point due;
    std::string bytes;
  };
  struct Flow {
    Direction direction;
    int from;
    int to;
    std::deque<Chunk> chunks{};
    std::size_t waiting = 0;  // bytes in chunks
    bool blocked = false;     // the receiver is full
    bool ended = false;       // the sender has said its last
    bool closed = false;      // and the receiver knows
  };

  bool may_read(const Flow& flow, const Rules& rules) const {
    const bool gone_deaf = losing_ && flow.direction == Direction::to_server;
    return !flow.ended && !gone_deaf && flow.waiting < kMostWaiting && rules.frozen != flow.direction;
  }

  void read(Flow& flow, Rules& rules) {
    if (over_ || !may_read(flow, rules)) return;
    std::string bytes(1 << 16, '\0');
    const ssize_t got = recv(flow.from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    flow.ended = got <= 0;
    if (flow.ended) return;
    bytes.resize(static_cast<std::size_t>(got));
    flow.direction == Direction::to_server ? look_at_request(bytes, rules) : look_at_reply(rules);
    if (over_ || (losing_ && flow.direction == Direction::to_client)) return;
    flow.waiting += bytes.size();
    flow.chunks.push_back({Clock::now() + rules.latency, std::move(bytes)});
  }

  void look_at_request(const std::string& bytes, Rules& rules) {
    if (!std::exchange(asked_, true) && rules.loss && rules.loss->exchanges-- == 0) {
      (rules.loss->what == Lost::request ? over_ : losing_) = true;
      rules.loss.reset();
    }
    if (rules.lose_reply_to.empty()) return;
    seen_ += bytes;
    if (seen_.find(rules.lose_reply_to) != std::string::npos) {
      losing_ = true;
      rules.lose_reply_to.clear();
    }
    // The text may come in two packets.
    seen_.erase(0, seen_.size() - std::min(seen_.size(), rules.lose_reply_to.size()));
  }

  void look_at_reply(const Rules& rules) {
    if (std::exchange(asked_, false) && !losing_)
      losing_ = std::bernoulli_distribution{rules.lose_probability}(random_);
  }

  void write(Flow& flow, Rules& rules) {
    flow.blocked = false;
    while (!over_ && !flow.blocked && !flow.chunks.empty() && flow.chunks.front().due <= Clock::now()) {
      write_one(flow, rules.until_cut(flow.direction), rules.for_good);
    }
    const bool last = flow.ended || (losing_ && flow.direction == Direction::to_server);
    if (last && flow.chunks.empty() && !flow.closed) {
      shutdown(flow.to, SHUT_WR);
      flow.closed = true;
    }
  }

  void write_one(Flow& flow, std::optional<std::size_t>& until_cut, bool for_good) {
    std::string& bytes = flow.chunks.front().bytes;
    const std::size_t allowed = until_cut ? std::min(*until_cut, bytes.size()) : bytes.size();
    const ssize_t sent = send(flow.to, bytes.data(), allowed, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      flow.blocked = errno == EAGAIN || errno == EINTR;
      over_ = !flow.blocked;
      return;
    }
    flow.waiting -= static_cast<std::size_t>(sent);
    bytes.erase(0, static_cast<std::size_t>(sent));
    if (bytes.empty()) flow.chunks.pop_front();
    if (!until_cut) return;
    *until_cut -= static_cast<std::size_t>(sent);
    if (*until_cut == 0) {
      over_ = true;
      if (!for_good) until_cut.reset();
    }
  }

  const int client_;
  const int server_;
  std::mt19937_64 random_;
  Flow to_server_{.direction = Direction::to_server, .from = client_, .to = server_};
  Flow to_client_{.direction = Direction::to_client, .from = server_, .to = client_};
  std::string seen_;  // the end of what the client sent
  bool asked_ = false;
  bool losing_ = false;
  bool over_ = false;
};

CuttingProxy::CuttingProxy(int server_port, std::uint64_t seed, std::string host)
    : server_port_(server_port), seed_(seed), host_(std::move(host)), rules_(std::make_unique<Rules>()) {
  reserved_ = bound_socket(host_, 0);
  port_ = port_of(reserved_);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  listen();
  thread_ = std::thread{[this] { run(); }};
}

CuttingProxy::~CuttingProxy() {
  order([this] { stopping_ = true; });
  thread_.join();
  for (const int one : {reserved_, wake_, listener_}) {
    if (one >= 0) close(one);
  }
}

void CuttingProxy::listen() {
  listener_ = bound_socket(host_, port_);
  if (::listen(listener_, SOMAXCONN) != 0) throw std::runtime_error("cannot listen");
}

template <class Change>
void CuttingProxy::order(Change change) {
  const std::lock_guard lock{mutex_};
  change();
  wake();
}

void CuttingProxy::wake() {
  eventfd_write(wake_, 1);
}

void CuttingProxy::cut_all() {
  order([this] { connections_.clear(); });
}

void CuttingProxy::refuse_new() {
  order([this] { stop_listening(); });
}

void CuttingProxy::accept_new() {
  order([this] {
    if (std::exchange(rules_->for_good, false)) {
      rules_->until_cut_to_server.reset();
      rules_->until_cut_to_client.reset();
    }
    if (listener_ < 0) listen();
  });
}

void CuttingProxy::cut_after(Direction direction, std::size_t bytes) {
  order([&] { rules_->until_cut(direction) = bytes; });
}

void CuttingProxy::die_after(Direction direction, std::size_t bytes) {
  order([&] {
    stop_listening();
    rules_->until_cut(direction) = bytes;
    rules_->for_good = true;
  });
}

void CuttingProxy::lose_reply_to(std::string text) {
  order([&] { rules_->lose_reply_to = std::move(text); });
}

void CuttingProxy::lose_replies(double probability) {
  order([&] { rules_->lose_probability = probability; });
}

void CuttingProxy::lose_after(std::size_t exchanges, Lost what) {
  order([&] { rules_->loss = Rules::Loss{exchanges, what}; });
}

bool CuttingProxy::take_back_loss() {
  bool there = false;
  order([&] { there = std::exchange(rules_->loss, std::nullopt).has_value(); });
  return there;
}

void CuttingProxy::freeze() {
  order([this] { frozen_ = true; });
}

void CuttingProxy::freeze(Direction direction) {
  order([&] { rules_->frozen = direction; });
}

void CuttingProxy::thaw() {
  order([this] {
    frozen_ = false;
    rules_->frozen.reset();
  });
}

void CuttingProxy::set_latency(std::chrono::milliseconds each_way) {
  order([&] { rules_->latency = each_way; });
}

std::size_t CuttingProxy::open_connections() const {
  const std::lock_guard lock{mutex_};
  return connections_.size();
}

std::size_t CuttingProxy::lost_replies() const {
  const std::lock_guard lock{mutex_};
  return lost_replies_;
}

void CuttingProxy::run() {
  for (;;) {
    wait_for_work();
    const std::lock_guard lock{mutex_};
    eventfd_t ignored = 0;
    eventfd_read(wake_, &ignored);
    if (stopping_) return;
    if (!frozen_) work();
  }
}

// Sleeps without the mutex. A new order wakes it, so an outdated list does no harm.
void CuttingProxy::wait_for_work() {
  std::vector<pollfd> list{{wake_, POLLIN, 0}};
  auto until = Clock::time_point::max();
  {
    const std::lock_guard lock{mutex_};
    if (!frozen_) {
      list.push_back({listener_, POLLIN, 0});
      for (const auto& connection : connections_) until = std::min(until, connection->wait(list, *rules_));
    }
  }
  poll(list.data(), list.size(), milliseconds_until(until));
}

// Tries all connections instead of asking poll() which are ready: there are few, and the list may be outdated.
void CuttingProxy::work() {
  if (listener_ >= 0) accept_waiting();
  for (const auto& connection : connections_) {
    connection->work(*rules_);
    if (connection->lost_reply()) ++lost_replies_;
  }
  std::erase_if(connections_, [](const auto& connection) { return connection->over(); });
}

void CuttingProxy::stop_listening() {
  if (listener_ >= 0) close_now(std::exchange(listener_, -1));
}

void CuttingProxy::accept_waiting() {
  for (int client = -1; (client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
    const int server = make_socket();
    if (!at(kLoopback, server_port_, connect, server)) {
      close(client);
      close(server);
      continue;
    }
    connections_.push_back(std::make_unique<Connection>(client, server, seed_ + accepted_++));
  }
}

}  // namespace easyretry::test
