#pragma once
// The way of a message from the rules to its channel: a queue that all threads share, and a sender for each channel.

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include <easyretry/options.h>

#include "alert/channel.h"
#include "alert/rules.h"

namespace easyretry::alert {

// The rules, shared between the threads that report events and the senders that ask for messages. Thread-safe; feeding
// it never waits for a channel.
class AlertQueue {
 public:
  explicit AlertQueue(AlertsConfig config) : rules_(std::move(config)) {}

  bool wants_backlog() const { return rules_.wants_backlog(); }
  bool wants_circuits() const { return rules_.wants_circuits(); }

  void feed(const Event& event);
  void feed_backlog(const std::string& name_space, const std::map<std::string, Millis>& ages, bool complete);
  void feed_circuits(const std::string& name_space, const std::vector<Rules::OpenCircuit>& open);
  void tick();

  // Waits for the next message of this channel. Nullopt if stopped.
  std::optional<Message> next(const std::string& channel, const std::stop_token& stop);
  // At the end: the next message of this channel, without waiting until it is due. Nullopt if there is none.
  std::optional<Message> last(const std::string& channel);
  // For a message that no rule asked for: takes one of the messages that this channel may send per minute. Returns the
  // time to wait if there is none left.
  std::optional<Millis> take_turn(const std::string& channel);
  // False if stopped.
  bool sleep(Millis time, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Rules rules_;  // guarded by mutex_, except for the wants…(), which never change
};

// A message that has arrived, or was given up.
struct Sent {
  TimePoint at{};
  std::string channel{};
  Message message{};
  std::size_t tries = 1;
  bool arrived = false;
  std::string why{};  // it did not arrive; without secrets
};

// The latest messages of all channels, for people who ask what was told. Thread-safe.
class SentMessages {
 public:
  static constexpr std::size_t kMost = 200;  // a message with ten samples has 4 kB

  void note(Sent sent);
  std::vector<Sent> latest() const;  // the newest first

 private:
  mutable std::mutex mutex_;
  std::deque<Sent> latest_;  // guarded by mutex_
};

struct SendPauses {
  std::array<Millis, 3> between{Millis{1'000}, Millis{5'000}, Millis{25'000}};
  Millis longest{60'000};  // that a server may ask for with Retry-After
};

// Sends the messages of one channel, on its own thread: a channel that hangs does not delay the others. A message that
// does not arrive is sent again after increasing pauses, then logged, counted and dropped.
class Sender {
 public:
  // The queue and `sent` outlive it.
  Sender(std::string name, std::unique_ptr<Channel> channel, AlertQueue& queue, SentMessages& sent, LogSink log,
         SendPauses pauses = {});
  ~Sender();  // stop(), and waits
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  // The message in flight and those that are left are sent without further tries, for three seconds at most. Does not
  // wait, so that several senders end at the same time.
  void stop();

  const std::string& name() const { return name_; }
  std::uint64_t delivered() const { return delivered_; }
  std::uint64_t failed() const { return failed_; }

 private:
  void run(const std::stop_token& stop);
  void deliver(const Message& message, const std::stop_token& stop);
  void count(const Message& message, const SendResult& result, std::size_t tries);

  // Fixed after construction
  const std::string name_;
  const std::unique_ptr<Channel> channel_;
  AlertQueue& queue_;
  SentMessages& sent_;
  const LogSink log_;
  const SendPauses pauses_;

  std::atomic<std::uint64_t> delivered_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::stop_source over_;  // stopped three seconds after stop()
  std::jthread timer_;     // requests that
  std::jthread thread_;
};

}  // namespace easyretry::alert
