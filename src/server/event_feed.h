#pragma once
// What happens to the tasks of one namespace on this instance, for those who watch. The latest are kept, so that
// whoever was cut off goes on where he was. Nothing is kept while nobody has watched for a minute: that costs one load
// an event.

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include <easyretry/event.h>
#include <easyretry/time.h>

#include "http/body_stream.h"

namespace easyretry::server {

class EventFeed {
 public:
  // Empty: all of them.
  struct Filter {
    std::set<std::string> kinds{};
    std::set<std::string> handlers{};
  };
  struct Limits {
    std::size_t watchers = 200;
    std::size_t kept = 2000;  // of some 600 bytes each
    Millis kept_for{60'000};  // after the last one who watched has left
    http::StreamOptions stream{.filler = ": nothing new\n\n"};
  };
  EventFeed(const Clock& clock, Limits limits);

  void tell(const Event& event);

  // As server-sent events. `last` is the id of the last one that was seen; empty: from now on. Throws Refusal when too
  // many watch.
  std::shared_ptr<http::BodyStream> watch(Filter filter, std::string_view last);
  // Ends all streams; there will be no others.
  void close();

 private:
  struct Told {
    std::string kind;
    std::string handler;
    std::string text;
  };
  struct Watcher {
    Filter filter;
    std::shared_ptr<http::BodyStream> stream;
  };

  static bool wanted(const Filter& filter, const Told& told);
  // Under the lock:
  void forget_who_left();
  void wake();
  void sleep();
  std::string id_of(std::uint64_t number) const { return run_ + "-" + std::to_string(number); }
  // All that is kept since, or word of a gap.
  std::string missed(const Filter& filter, std::string_view last) const;

  const Clock& clock_;
  const Limits limits_;
  std::atomic<bool> awake_{false};
  std::mutex mutex_;
  // Guarded by mutex_
  std::list<Watcher> watchers_;
  Instant last_watched_{};
  std::string run_;  // the first half of ids, another one whenever it wakes
  std::deque<Told> kept_;
  std::uint64_t next_ = 1;  // number of the event that comes after the last one kept
  bool closed_ = false;
};

}  // namespace easyretry::server
