#pragma once
// News of due tasks by NOTIFY: one connection and one thread, made when they are first needed.
//
// A commit that notifies holds a lock of the whole server until it is on disk, and all others that notify wait for it.
// So no insert of ours notifies: what is announced is said here, afterwards, by a transaction that waits for no disk,
// and no more than once in kBetweenWords. A connection that is lost, also silently, is made again; those who listen are
// woken then, for what they may have missed.

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
#include "storage/postgres/news_connection.h"
#include "storage/postgres/wake_up.h"
#include "storage/sql/news.h"

namespace easyretry::storage::postgres {

class NewsLine final : public sql::News {
 public:
  explicit NewsLine(std::string settings);  // as libpq takes them
  ~NewsLine() override;                     // after what is to be said was said, or a few seconds
  NewsLine(const NewsLine&) = delete;
  NewsLine& operator=(const NewsLine&) = delete;

  void announce(const std::string& space) override;
  // Must not outlive this.
  std::unique_ptr<Listening> listen(const std::string& space, std::function<void()> wake) override;

  static constexpr std::chrono::milliseconds kBetweenWords{2};

 private:
  using Steady = std::chrono::steady_clock;
  struct Listener {
    std::string space;
    std::function<void()> wake;
    bool greeted = false;  // was woken for what came before it listened
  };
  class Place;
  class Conversation;

  void start();  // with mutex_ held
  void run();
  void pause(std::chrono::microseconds time);
  void wait(int socket, short events, Steady::time_point until);
  bool being_destroyed();
  bool over();
  bool has_words();
  std::set<std::string> take_words();
  void words_arrived();
  void words_were_lost();  // and will be said again
  bool has_listeners();
  void tell_all();
  void greet_newcomers();
  void tell(const std::string& space);

  const std::string settings_;
  base::Random random_;
  WakeUp wake_up_;

  std::mutex mutex_;  // guards what follows
  std::map<int, Listener> listeners_;
  int next_listener_ = 0;
  std::set<std::string> to_say_;
  std::set<std::string> being_said_;
  std::optional<Steady::time_point> patience_ends_;  // set: this is being destroyed
  std::thread thread_;
};

}  // namespace easyretry::storage::postgres
