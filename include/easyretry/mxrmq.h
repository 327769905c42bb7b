#pragma once
// Beside mx-rmq, a Python queue on Redis: messages that either side produces, runs, retries and gives up
// (docs/mxrmq.md).
//
//   mxrmq::Queue queue{"mxrmq://127.0.0.1:6379/0?prefix=shop"};
//   queue.produce("orders", order);
//
//   mxrmq::Worker worker{"mxrmq://127.0.0.1:6379/0?prefix=shop"};
//   worker.on<Order>("orders", [](const Order& order) { … });  // throws: retried, or in the end a dead letter
//   worker.start();

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <easyretry/error.h>
#include <easyretry/json.h>
#include <easyretry/options.h>
#include <easyretry/time.h>

namespace easyretry::mxrmq {

enum class Priority { low, normal, high };  // low is as normal; the newest of the high ones is first

// What a message carries along. The defaults are Python's.
struct ProduceOptions {
  std::string id{};  // empty: a new one. A message whose id is there already is not stored again
  Priority priority = Priority::normal;
  Millis ttl = std::chrono::hours{24};  // not taken for so long, it becomes a dead letter; not for a delayed one
  int max_retries = 3;                  // attempts in all, as Python counts
  std::vector<std::chrono::seconds> retry_delays{std::chrono::seconds{60}, std::chrono::seconds{300},
                                                 std::chrono::seconds{1800}};  // the last one repeats
};

struct Counts {
  std::int64_t pending = 0;     // of the topic
  std::int64_t processing = 0;  // of the topic, taken by Python
  std::int64_t delayed = 0;     // of all topics, like what follows
  std::int64_t leased = 0;      // taken by workers of this library
  std::int64_t dead = 0;
  std::int64_t unreadable = 0;
};

namespace detail {
template <class T>
concept NoText = !std::convertible_to<const T&, std::string_view>;
}  // namespace detail

// Safe to use from any thread. Throws StoreError for the server, std::invalid_argument for what the caller can correct.
class Queue {
 public:
  // mxrmq://user:password@host:port/database?prefix=…&topic=…&profile=gen2|gen1|gen-doc
  explicit Queue(std::string_view url);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // `payload` is a JSON object. Gives the id. The message is in Redis when this returns.
  std::string produce(std::string_view topic, std::string_view payload, const ProduceOptions& options = {});
  std::string produce_after(Millis delay, std::string_view topic, std::string_view payload,
                            const ProduceOptions& options = {});
  template <detail::NoText T>
  std::string produce(std::string_view topic, const T& payload, const ProduceOptions& options = {}) {
    return produce(topic, std::string_view{easyretry::to_json(payload)}, options);
  }
  template <detail::NoText T>
  std::string produce_after(Millis delay, std::string_view topic, const T& payload,
                            const ProduceOptions& options = {}) {
    return produce_after(delay, topic, std::string_view{easyretry::to_json(payload)}, options);
  }

  // A dead letter becomes a message again, under its id and with all its attempts. False: there is no such dead letter,
  // or a message with its id is live.
  bool requeue(std::string_view id, Millis delay = Millis{0});

  Counts counts(std::string_view topic) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// A message in the hands of a handler.
struct Delivery {
  std::string id;
  std::string topic;
  std::string payload;           // a JSON object
  std::int64_t retry_count = 0;  // attempts that failed before
  std::stop_token stop{};  // set when the message was lost to somebody else, or the worker stops and waits no longer
};

struct WorkerOptions {
  Millis lease =
      std::chrono::minutes{3};  // renewed while a handler runs; a dead worker's messages are taken up after it
  int max_lost = 3;             // workers that may die of a message before it becomes a dead letter
  Millis poll{500};             // how often due delayed messages are looked for
  Millis reap{5'000};           // how often messages of dead workers are
  LogSink log = stderr_log();
};

struct WorkerStats {
  std::int64_t completed = 0;
  std::int64_t retried = 0;
  std::int64_t dead = 0;
  std::int64_t unreadable = 0;
  std::int64_t fenced = 0;   // ended too late: somebody else had the message by then, and nothing was changed
  std::int64_t rescued = 0;  // taken up after a dead worker, of whichever side
};

// Takes messages of the topics that it has handlers for, beside workers in Python. Each message is run at least once,
// on threads of the worker's. Its own functions are for one thread, but stats().
class Worker {
 public:
  using Handler = std::function<void(const Delivery&)>;

  explicit Worker(std::string_view url, WorkerOptions options = {});
  ~Worker();  // stop()
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Before start(). `concurrency` messages of the topic are run at a time, each on a thread.
  void on(std::string topic, Handler handler, int concurrency = 5);
  // The payload as a T. One that is none is a failure like any other.
  template <class T, class F>
  void on(std::string topic, F handler, int concurrency = 5) {
    on(std::move(topic),
       Handler{[handler = std::move(handler)](const Delivery& d) { handler(easyretry::from_json<T>(d.payload)); }},
       concurrency);
  }

  void start();
  // Takes nothing more, lets handlers finish for so long, and then gives back what is not finished: it is the next to
  // be taken, and no attempt is counted. Returns when the handlers have. The worker stays stopped.
  void stop(Millis drain = std::chrono::seconds{20});

  WorkerStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::mxrmq
