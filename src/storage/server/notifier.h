#pragma once
// Tells other processes about due tasks over a connection of its own: one thread, started when it is first needed. The
// server's protocol is a function that is given to it.
//
// A connection that is lost, even silently, is replaced; then all listeners are woken, for what they may have missed.

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

#include "base/random.h"
#include "storage/store.h"

namespace easyretry::storage::server {

// Ends the wait of one thread for its socket.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  void signal() const;  // from any thread; remembered if no thread waits
  // Until signal(), or the socket (-1: none) has one of the events, or `until`.
  void wait(int socket, short events, std::chrono::steady_clock::time_point until) const;

 private:
  const int event_;
};

class Notifier {
 public:
  using Steady = std::chrono::steady_clock;
  // Runs one connection until it is lost or finished(), and returns whether it ever worked. May throw ServerError.
  using UseConnection = std::function<bool(Notifier&)>;

  // `can_listen` is asked for each new listener.
  Notifier(UseConnection use_connection, std::function<bool()> can_listen);
  ~Notifier();  // when all announcements have been sent, or after a few seconds
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Store::announce and Store::listen. A subscription must not outlive this; it is null if nobody can listen.
  void announce(const std::string& name_space);
  std::unique_ptr<Subscription> listen(const std::string& name_space, std::function<void()> wake);

  // Announcements are sent at most once in this time: a server has more to do than that.
  static constexpr std::chrono::milliseconds kInterval{2};
  // The kernel notices a peer that is dead, but not one that is alive and silent. So a connection that was quiet for
  // kQuiet is asked for a sign of life, and has kPatience to answer. Scans find the tasks that it did not report.
  static constexpr std::chrono::seconds kQuiet{10};
  static constexpr std::chrono::seconds kPatience{5};

  // For the connection, on the notifier's thread.
  bool has_pending();
  std::set<std::string> take_pending();  // in flight until one of the next two
  void confirm_sent();
  void requeue_unconfirmed();
  bool has_listeners();
  void wake_all();
  void wake_newcomers();  // for what came before they listened
  void wake(const std::string& name_space);
  void wait(int socket, short events, Steady::time_point until);
  bool finished();

 private:
  struct Listener {
    std::string name_space;
    std::function<void()> wake;
    bool woken = false;  // for what came before it listened
  };
  class Registration;

  void start();  // with mutex_ held
  void run();
  bool try_connection();
  void pause(std::chrono::microseconds time);
  bool stopping();

  const UseConnection use_connection_;
  const std::function<bool()> can_listen_;
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

}  // namespace easyretry::storage::server
