#pragma once
// Tells other processes about due tasks with NOTIFY: one connection and one thread, made when they are first needed.
//
// A commit that notifies holds a lock of the whole server until it is on disk, and all other commits that notify wait
// for it. So none of our inserts notifies. Announcements are sent here, afterwards, by a transaction that does not wait
// for the disk, and at most once in kInterval. A connection that is lost, even silently, is replaced. Then all
// listeners are woken, because they may have missed announcements.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <libpq-fe.h>

#include "base/random.h"
#include "storage/sql/server_options.h"

namespace easyretry::storage::postgres {

// A connection that never blocks, so that its user can wait for other things as well.
class NotifyConnection {
 public:
  explicit NotifyConnection(const std::string& settings);  // as libpq takes them; begins to connect

  // Does all work that needs no waiting.
  void advance();
  bool lost() const { return stage_ == Stage::lost; }  // not recoverable
  // Connected, and the last statement has been answered.
  bool idle() const { return stage_ == Stage::idle; }
  // Only while idle(). It is not idle afterwards: even an answer that comes at once is read by advance(). The
  // statement returns nothing. If the server refuses it, the connection is lost.
  void send(const std::string& statement);
  std::string literal(const std::string& text) const;

  // The namespaces of notifications that arrived since the last call, without those that were sent on this connection.
  std::vector<std::string> take_notifications();

  // Wait for these events of the socket before the next advance().
  int socket() const { return PQsocket(handle_.get()); }
  short events() const { return events_; }

 private:
  enum class Stage { connecting, idle, busy, lost };
  void advance_connecting();
  void advance_talking();
  bool flush();

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> handle_;
  Stage stage_ = Stage::connecting;
  short events_;
};

// Ends the wait of one thread for its socket.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  void signal() const;  // from any thread; remembered if no thread waits
  // Waits for signal(), for one of the events of the socket (-1: none), or until `until`.
  void wait(int socket, short events, std::chrono::steady_clock::time_point until) const;

 private:
  const int event_;
};

class Notifier final : public sql::Channel {
 public:
  // `settings` as libpq takes them, asked for each connection; it may throw ServerError. `behind_pooler` is set by the
  // sessions of the store, which are there before anything listens.
  Notifier(std::function<std::string()> settings, std::shared_ptr<const std::atomic<bool>> behind_pooler);
  ~Notifier() override;  // when all announcements have been sent, or after a few seconds
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  void announce(const std::string& name_space) override;
  // Must not outlive this. Null behind a pooler.
  std::unique_ptr<Subscription> listen(const std::string& name_space, std::function<void()> wake) override;

  static constexpr std::chrono::milliseconds kInterval{2};

 private:
  using Steady = std::chrono::steady_clock;
  struct Listener {
    std::string name_space;
    std::function<void()> wake;
    bool woken = false;  // because of announcements before it listened
  };
  class Registration;
  class Link;

  void start();  // with mutex_ held
  void run();
  bool use_connection();
  void pause(std::chrono::microseconds time);
  void wait(int socket, short events, Steady::time_point until);
  bool stopping();
  bool finished();
  bool has_pending();
  std::set<std::string> take_pending();
  void confirm_sent();
  void requeue_unconfirmed();
  bool has_listeners();
  void wake_all();
  void wake_newcomers();
  void wake(const std::string& name_space);

  const std::function<std::string()> settings_;
  const std::shared_ptr<const std::atomic<bool>> behind_pooler_;
  base::Random random_;
  Wakeup wakeup_;

  std::mutex mutex_;  // guards what follows
  std::map<int, Listener> listeners_;
  int next_listener_ = 0;
  std::set<std::string> pending_;  // namespaces to announce
  std::set<std::string> in_flight_;
  std::optional<Steady::time_point> stop_by_;  // set in the destructor
  std::thread thread_;
};

}  // namespace easyretry::storage::postgres
