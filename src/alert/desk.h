#pragma once
// The rules between those who see what happens and the channels that ask what to tell. Thread-safe; whoever feeds it
// never waits for a channel.

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "alert/rules.h"

namespace easyretry::alert {

class Desk {
 public:
  explicit Desk(AlertsConfig config) : rules_(std::move(config)) {}

  bool wants_backlog() const { return rules_.wants_backlog(); }

  void feed(const Event& event);
  void feed_backlog(const std::string& space, const std::map<std::string, Millis>& ages, bool complete);
  void tick();

  // Waits for what this channel is to be told next. Nullopt: stopped.
  std::optional<Message> next(const std::string& channel, const std::stop_token& stop);
  // What is left to tell when everything ends, without waiting for its time.
  std::optional<Message> last(const std::string& channel);
  // False: stopped.
  bool sleep(Millis time, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Rules rules_;  // guarded by mutex_, but for what it wants, which never changes
};

}  // namespace easyretry::alert
