#pragma once
// Events of one namespace on this instance, as streams for clients. The latest events are kept, so that a client that
// was cut off continues where it was. When no client has watched for a minute, nothing is kept, and an event costs one
// load.

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/event.h>
#include <easyretry/time.h>

#include "http/body_stream.h"

namespace easyretry::server {

class EventFeed {
 public:
  // Empty: no restriction.
  struct Filter {
    std::set<std::string> kinds{};
    std::set<std::string> handlers{};
  };
  struct Limits {
    std::size_t watchers = 200;
    std::size_t kept = 2000;  // about 600 bytes each
    Millis kept_for{60'000};  // after the last client has left
    http::StreamOptions stream{.filler = ": nothing new\n\n"};
  };
  EventFeed(const Clock& clock, Limits limits);

  void tell(const Event& event);

  // Streams server-sent events. `last` is the id of the last event that the client has seen; empty: from now on. Throws
  // Refusal if too many clients watch.
  std::shared_ptr<http::BodyStream> watch(Filter filter, std::string_view last);
  // Ends all streams and refuses new ones.
  void close();

 private:
  struct FeedEntry {
    std::string kind;
    std::string handler;
    std::string text;
  };
  struct Watcher {
    Filter filter;
    std::shared_ptr<http::BodyStream> stream;
  };

  static bool wanted(const Filter& filter, const FeedEntry& entry);
  // Under the lock:
  void remove_ended();
  void wake();
  void sleep();
  std::string id_of(std::uint64_t number) const { return run_ + "-" + std::to_string(number); }
  // The kept events after `last`, or a "gap" event.
  std::string missed(const Filter& filter, std::string_view last) const;

  const Clock& clock_;
  const Limits limits_;
  std::atomic<bool> awake_{false};
  std::mutex mutex_;
  // Guarded by mutex_
  std::list<Watcher> watchers_;
  Instant last_watched_{};
  std::string run_;  // first half of the ids; new each time the feed wakes
  std::deque<FeedEntry> kept_;
  std::uint64_t next_ = 1;  // number of the next event
  bool closed_ = false;
};

// The names that clients use: "attempt_failed".
std::vector<std::string> event_kinds();

}  // namespace easyretry::server
