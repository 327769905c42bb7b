#pragma once
// The state that all parts of one engine share. Each member is safe to use from any thread.

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include <easyretry/options.h>

#include "base/pause_clock.h"
#include "base/random.h"
#include "engine/events.h"
#include "engine/failure_log.h"
#include "engine/handlers.h"
#include "engine/measures.h"
#include "engine/pauses.h"
#include "engine/payloads.h"
#include "engine/spans.h"
#include "engine/store_time.h"
#include "engine/waits.h"
#include "engine/wakeup.h"
#include "storage/store.h"

namespace easyretry::engine {

// The options that may change while the engine runs.
struct LiveOptions {
  explicit LiveOptions(const EngineOptions& options) { *this = options; }
  void operator=(const EngineOptions& options) {
    window = options.window;
    poll = options.poll;
    grace = options.grace;
    batch = options.batch;
    max_crashes = options.max_crashes;
    max_payload = options.max_payload;
    drain = options.drain;
  }
  std::atomic<Millis> window;
  std::atomic<Millis> poll;
  std::atomic<Millis> grace;
  std::atomic<std::size_t> batch;
  std::atomic<int> max_crashes;
  std::atomic<std::size_t> max_payload;
  std::atomic<Millis> drain;
};

struct Context {
  Context(storage::Store& the_store, const Clock& the_clock, EngineOptions the_options, std::string the_owner,
          std::uint64_t seed)
      : store(the_store),
        clock(the_clock),
        options(std::move(the_options)),
        owner(std::move(the_owner)),
        store_time(the_clock.now(), the_clock.steady()),
        payloads(options.encryption),
        live(options),
        random(seed) {}

  storage::Store& store;
  const Clock& clock;
  const EngineOptions options;
  const std::string owner;  // unique per start, so that a restarted process is not mistaken for the one before
  StoreTime store_time;
  const Payloads payloads;
  LiveOptions live;
  base::Random random;
  Handlers handlers{};
  Filters filters{};
  Counters counters{};
  Measures measures{};
  Events events{counters};
  Spans spans{counters};
  FailureLog failures{options.log, clock};
  KnownPauses pauses{};
  Waits waits{clock};
  // Waits on the caller's thread. The simulator has its own time.
  std::function<void(Millis)> sleep = [](Millis time) { base::system_pauses().sleep(time); };
  Wakeup circuits{};                                // the CircuitWatch's
  Wakeup braking{};                                 // the BrakeWatch's
  std::atomic<Instant> lent_until{Instant::min()};  // leases of remote workers may hold until then
  Wakeup claiming{};  // the Claimers'. Here, because a worker thread that notifies it may outlive them

  TimePoint store_now() const { return store_time.at(clock.steady()); }

  bool is_paused(std::uint32_t no) const {
    return pauses.any() && pauses.contains(handlers.snapshot()->by_number[no]->handler.name);
  }

  void log(LogLevel level, const std::string& text) const {
    if (options.log) options.log(level, text);
  }

  // Makes a store call and learns the store's time from its reply.
  template <class Call>
  auto ask(StoreVerb verb, Call&& call) {
    const Instant sent = clock.steady();
    auto reply = call(store);
    const Instant received = clock.steady();
    measures.latency_of(verb).add(received - sent);
    if (reply) {
      store_time.observe(reply->now, sent, received);
      if constexpr (requires { reply->trouble; }) {
        if (reply->trouble) note(*reply->trouble);
      }
    } else if (reply.error().code != Errc::already_exists) {  // which is an answer, not a failure
      note(reply.error());
    }
    return reply;
  }

  void note(const Error& error) {
    Counters::add(counters.store_errors);
    // While a store is down every call fails: one line per second is enough.
    const Instant now = clock.steady();
    Instant last = last_error_logged_.load();
    if (last != Instant::min() && now - last < std::chrono::seconds{1}) return;
    if (last_error_logged_.compare_exchange_strong(last, now)) log(LogLevel::error, to_string(error));
  }

 private:
  std::atomic<Instant> last_error_logged_{Instant::min()};
};

// How long a part waits after the n-th failed store call in a row: 50 ms, doubling up to 2 s, with jitter, so that
// instances do not all come back at once.
inline std::chrono::nanoseconds pause_after_failures(int failures, base::Random& random) {
  const double millis = std::min(2000.0, 50.0 * static_cast<double>(1 << std::min(failures, 6)));
  return std::chrono::nanoseconds{static_cast<std::int64_t>(millis * (0.5 + random.unit() / 2) * 1e6)};
}

}  // namespace easyretry::engine
