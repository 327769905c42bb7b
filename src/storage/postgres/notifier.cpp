#include "storage/postgres/notifier.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "storage/postgres/statements.h"
#include "storage/server/connection_pool.h"

namespace easyretry::storage::postgres {
namespace {

// The kernel notices a peer that is dead, but not one that is alive and silent. So a connection that has been quiet for
// kQuiet is asked for a sign of life, and has kPatience to answer. Scans find the tasks that it did not report.
constexpr std::chrono::seconds kQuiet{10};
constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::seconds kStopPatience{3};
constexpr std::chrono::minutes kLongestWait{1};

}  // namespace

NotifyConnection::NotifyConnection(const std::string& settings)
    : handle_(PQconnectStart(settings.c_str())), events_(POLLOUT) {
  if (PQstatus(handle_.get()) == CONNECTION_BAD) stage_ = Stage::lost;
}

void NotifyConnection::advance() {
  if (stage_ == Stage::connecting) {
    advance_connecting();
  } else if (stage_ != Stage::lost) {
    advance_talking();
  }
}

void NotifyConnection::advance_connecting() {
  switch (PQconnectPoll(handle_.get())) {
    case PGRES_POLLING_WRITING: events_ = POLLOUT; break;
    case PGRES_POLLING_OK:
      PQsetnonblocking(handle_.get(), 1);
      stage_ = Stage::idle;
      [[fallthrough]];
    case PGRES_POLLING_READING: events_ = POLLIN; break;
    default: stage_ = Stage::lost;
  }
}

void NotifyConnection::advance_talking() {
  if (PQconsumeInput(handle_.get()) == 0) return void(stage_ = Stage::lost);
  bool refused = !flush();
  while (stage_ == Stage::busy && PQisBusy(handle_.get()) == 0) {
    PGresult* result = PQgetResult(handle_.get());
    if (result == nullptr) stage_ = Stage::idle;
    refused |= result != nullptr && PQresultStatus(result) == PGRES_FATAL_ERROR;
    PQclear(result);
  }
  if (refused || PQstatus(handle_.get()) == CONNECTION_BAD) stage_ = Stage::lost;
}

bool NotifyConnection::flush() {
  const int unsent = PQflush(handle_.get());
  events_ = unsent == 1 ? POLLIN | POLLOUT : POLLIN;
  return unsent >= 0;
}

void NotifyConnection::send(const std::string& statement) {
  const bool sent = PQsendQuery(handle_.get(), statement.c_str()) == 1 && flush();
  stage_ = sent ? Stage::busy : Stage::lost;
}

std::string NotifyConnection::literal(const std::string& text) const {
  char* const escaped = PQescapeLiteral(handle_.get(), text.data(), text.size());
  const std::string literal = escaped == nullptr ? "''" : escaped;
  PQfreemem(escaped);
  return literal;
}

std::vector<std::string> NotifyConnection::take_notifications() {
  std::vector<std::string> namespaces;
  while (PGnotify* const notification = PQnotifies(handle_.get())) {
    if (notification->be_pid != PQbackendPID(handle_.get())) namespaces.emplace_back(notification->extra);
    PQfreemem(notification);
  }
  return namespaces;
}

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

// One connection of the notifier, with one statement at a time.
class Notifier::Link {
 public:
  explicit Link(Notifier& notifier) : notifier_(notifier), connection_(notifier.settings_()) {}
  ~Link() { notifier_.requeue_unconfirmed(); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Runs until the connection is lost or the notifier has finished. Returns whether the connection ever worked.
  bool run() {
    while (true) {
      connection_.advance();
      for (const std::string& name_space : connection_.take_notifications()) notifier_.wake(name_space);
      if (connection_.idle()) send_next();
      const bool silent = !connection_.idle() && Steady::now() >= next_;
      if (connection_.lost() || silent || notifier_.finished()) return worked_;
      notifier_.wait(connection_.socket(), connection_.events(), next_);
    }
  }

 private:
  void send_next() {
    worked_ = true;
    handle_answer();
    const auto now = Steady::now();
    if (!listens_ && notifier_.has_listeners()) {
      asked_to_listen_ = true;
      return send(statements::listen.str());
    }
    if (listens_) notifier_.wake_newcomers();
    if (now >= next_notify_) {
      const std::set<std::string> namespaces = notifier_.take_pending();
      if (!namespaces.empty()) return notify(namespaces, now);
    }
    if (listens_ && now - sent_at_ >= kQuiet) return send("SELECT 1");
    next_ = listens_ ? sent_at_ + kQuiet : Steady::time_point::max();
    if (notifier_.has_pending()) next_ = std::min(next_, next_notify_);
  }

  void notify(const std::set<std::string>& namespaces, Steady::time_point now) {
    next_notify_ = now + kInterval;
    std::string script = statements::async_commit.str() + ";";  // for this script, which is one transaction
    for (const std::string& name_space : namespaces) {
      script += statements::notify.with({{"namespace", connection_.literal(name_space)}}) + ";";
    }
    send(script);
  }

  void send(const std::string& statement) {
    sent_at_ = Steady::now();
    next_ = sent_at_ + kPatience;
    connection_.send(statement);
  }

  void handle_answer() {
    notifier_.confirm_sent();
    if (!std::exchange(asked_to_listen_, false)) return;
    listens_ = true;
    notifier_.wake_all();
  }

  Notifier& notifier_;
  NotifyConnection connection_;
  bool worked_ = false;
  bool asked_to_listen_ = false;
  bool listens_ = false;
  Steady::time_point sent_at_{};
  Steady::time_point next_notify_{};
  // The time of the next look. While a statement is in flight: the time when the connection counts as silent.
  Steady::time_point next_ = Steady::now() + kPatience;
};

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

Notifier::Notifier(std::function<std::string()> settings, std::shared_ptr<const std::atomic<bool>> behind_pooler)
    : settings_(std::move(settings)), behind_pooler_(std::move(behind_pooler)), random_(base::random_seed()) {}

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
  if (*behind_pooler_) return nullptr;  // the server would notify a session that is not ours by then
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

// A notifier that is being destroyed tries one more connection: if the server refuses it, no instance listens either.
void Notifier::run() {
  for (int failures = 0; !finished();) {
    const bool last = stopping();
    if (use_connection()) failures = 0;
    if (last) return;
    pause(server::reconnect_pause(failures++, random_));
  }
}

// Returns whether it ever worked.
bool Notifier::use_connection() {
  try {
    return Link{*this}.run();
  } catch (const server::ServerError&) {
    return false;  // the password cannot be read; the sessions of the store say so
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

}  // namespace easyretry::storage::postgres
