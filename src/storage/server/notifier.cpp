#include "storage/server/notifier.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "storage/server/connection_pool.h"
#include "storage/server/server_error.h"

namespace easyretry::storage::server {
namespace {

constexpr std::chrono::seconds kStopPatience{3};
constexpr std::chrono::minutes kLongestWait{1};

}  // namespace

Wakeup::Wakeup() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Wakeup::~Wakeup() {
  close(event_);
}

void Wakeup::signal() const {
  eventfd_write(event_, 1);
}

void Wakeup::wait(int socket, short events, std::chrono::steady_clock::time_point until) const {
  using std::chrono::nanoseconds;
  std::array<pollfd, 2> sources{pollfd{event_, POLLIN, 0}, pollfd{socket, events, 0}};
  const nanoseconds left =
      std::clamp<nanoseconds>(until - std::chrono::steady_clock::now(), nanoseconds{0}, kLongestWait);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  ppoll(sources.data(), sources.size(), &time, nullptr);
  eventfd_t signalled = 0;
  eventfd_read(event_, &signalled);
}

// Registers a listener until it is destroyed.
class Notifier::Registration final : public Subscription {
 public:
  Registration(Notifier& notifier, int number) : notifier_(notifier), number_(number) {}
  ~Registration() override {
    const std::lock_guard lock{notifier_.mutex_};
    notifier_.listeners_.erase(number_);
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  Notifier& notifier_;
  const int number_;
};

Notifier::Notifier(UseConnection use_connection, std::function<bool()> can_listen)
    : use_connection_(std::move(use_connection)), can_listen_(std::move(can_listen)), random_(base::random_seed()) {}

Notifier::~Notifier() {
  {
    const std::lock_guard lock{mutex_};
    stop_by_ = Steady::now() + kStopPatience;
  }
  wakeup_.signal();
  if (thread_.joinable()) thread_.join();
}

void Notifier::announce(const std::string& name_space) {
  {
    const std::lock_guard lock{mutex_};
    if (!pending_.insert(name_space).second) return;
    start();
  }
  wakeup_.signal();
}

std::unique_ptr<Subscription> Notifier::listen(const std::string& name_space, std::function<void()> wake) {
  if (!can_listen_()) return nullptr;
  std::unique_ptr<Subscription> subscription;
  {
    const std::lock_guard lock{mutex_};
    subscription = std::make_unique<Registration>(*this, next_listener_);
    listeners_.emplace(next_listener_++, Listener{name_space, std::move(wake)});
    start();
  }
  wakeup_.signal();
  return subscription;
}

void Notifier::start() {
  if (thread_.joinable()) return;
  thread_ = std::thread{[this] { run(); }};
  pthread_setname_np(thread_.native_handle(), "er-notify");
}

// A notifier that is being destroyed tries one more connection: if the server does not accept it, no instance listens.
void Notifier::run() {
  for (int failures = 0; !finished();) {
    const bool last = stopping();
    if (try_connection()) failures = 0;
    if (last) return;
    pause(reconnect_pause(failures++, random_));
  }
}

bool Notifier::try_connection() {
  try {
    return use_connection_(*this);
  } catch (const ServerError&) {
    return false;  // the sessions of the store say what is wrong
  }
}

bool Notifier::stopping() {
  const std::lock_guard lock{mutex_};
  return stop_by_.has_value();
}

void Notifier::pause(std::chrono::microseconds time) {
  for (const auto until = Steady::now() + time; Steady::now() < until && !stopping();) wait(-1, 0, until);
}

bool Notifier::finished() {
  const std::lock_guard lock{mutex_};
  return stop_by_ && ((pending_.empty() && in_flight_.empty()) || Steady::now() >= *stop_by_);
}

void Notifier::wait(int socket, short events, Steady::time_point until) {
  {
    const std::lock_guard lock{mutex_};
    if (stop_by_) until = std::min(until, *stop_by_);
  }
  wakeup_.wait(socket, events, until);
}

bool Notifier::has_pending() {
  const std::lock_guard lock{mutex_};
  return !pending_.empty();
}

std::set<std::string> Notifier::take_pending() {
  const std::lock_guard lock{mutex_};
  in_flight_ = std::exchange(pending_, {});
  return in_flight_;
}

void Notifier::confirm_sent() {
  const std::lock_guard lock{mutex_};
  in_flight_.clear();
}

void Notifier::requeue_unconfirmed() {
  const std::lock_guard lock{mutex_};
  pending_.merge(std::exchange(in_flight_, {}));
}

bool Notifier::has_listeners() {
  const std::lock_guard lock{mutex_};
  return !listeners_.empty();
}

void Notifier::wake_all() {
  {
    const std::lock_guard lock{mutex_};
    for (auto& [number, listener] : listeners_) listener.woken = false;
  }
  wake_newcomers();
}

void Notifier::wake_newcomers() {
  const std::lock_guard lock{mutex_};
  for (auto& [number, listener] : listeners_) {
    if (!std::exchange(listener.woken, true)) listener.wake();
  }
}

void Notifier::wake(const std::string& name_space) {
  const std::lock_guard lock{mutex_};
  for (const auto& [number, listener] : listeners_) {
    if (listener.name_space == name_space) listener.wake();
  }
}

}  // namespace easyretry::storage::server
