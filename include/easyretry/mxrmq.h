#pragma once
// Interoperates with mx-rmq, a Python queue on Redis: either side can produce, run, retry and give up messages
// (docs/mxrmq.md).
//
//   mxrmq::Queue queue{"mxrmq://127.0.0.1:6379/0?prefix=shop"};
//   queue.produce("orders", order);
//
//   mxrmq::Worker worker{"mxrmq://127.0.0.1:6379/0?prefix=shop"};
//   worker.on<Order>("orders", [](const Order& order) { … });  // if it throws: a retry, finally a dead letter
//   worker.on<Order>("refunds", [](const Order& order) -> Answer { … return retry_after(5min, "bank closed"); });
//   worker.start();

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <easyretry/error.h>
#include <easyretry/handler.h>
#include <easyretry/json.h>
#include <easyretry/options.h>
#include <easyretry/time.h>

#pragma GCC visibility push(default)
namespace easyretry::mxrmq {

enum class Priority { low, normal, high };  // low equals normal; of high messages, the newest runs first

// The settings of a message. The defaults are those of mx-rmq.
struct ProduceOptions {
  std::string id{};  // empty: a new id. A message whose id already exists is not stored again
  Priority priority = Priority::normal;
  // A message that is not taken within this time becomes a dead letter. Ignored for delayed messages.
  Millis ttl = std::chrono::hours{24};
  int max_retries = 3;  // total attempts, as mx-rmq counts them
  std::vector<std::chrono::seconds> retry_delays{std::chrono::seconds{60}, std::chrono::seconds{300},
                                                 std::chrono::seconds{1800}};  // the last one repeats
};

struct Counts {
  std::int64_t pending = 0;     // in the topic
  std::int64_t processing = 0;  // in the topic, taken by Python workers; with in_flight=list, by all workers
  std::int64_t delayed = 0;     // in all topics, like the counts below
  std::int64_t leased = 0;      // taken by workers of this library
  std::int64_t dead = 0;
  std::int64_t unreadable = 0;
};

namespace detail {
template <class T>
concept NoText = !std::convertible_to<const T&, std::string_view>;

template <class F, class T>
Answer answer_of(F& handler, const T& message) {
  if constexpr (std::is_same_v<std::invoke_result_t<F&, const T&>, Answer>) {
    return handler(message);
  } else {
    handler(message);
    return done();
  }
}
}  // namespace detail

// Thread-safe. Throws StoreError if the server fails, and std::invalid_argument for errors that the caller can correct.
class Queue {
 public:
  // mxrmq://user:password@host:port/database?prefix=…&topic=…&profile=gen2|gen1|gen-doc
  explicit Queue(std::string_view url);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // `payload` is a JSON object. Returns the id; the message is in Redis by then.
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

  // Turns a dead letter back into a message, with its id and all its attempts available. Returns false if there is no
  // such dead letter, or if a message with its id is live.
  bool requeue(std::string_view id, Millis delay = Millis{0});

  Counts counts(std::string_view topic) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// A message delivered to a handler.
struct Delivery {
  std::string id;
  std::string topic;
  std::string payload;           // a JSON object
  std::int64_t retry_count = 0;  // failed attempts so far
  std::stop_token stop{};        // requested when another worker has taken the message, or stop() waits no longer
};

struct WorkerOptions {
  // Renewed while a handler runs. The messages of a dead worker are taken over when it has expired.
  Millis lease = std::chrono::minutes{3};
  int max_lost = 3;    // workers that may die running a message before it becomes a dead letter
  Millis poll{500};    // how often to look for delayed messages that are due
  Millis reap{5'000};  // how often to look for messages of dead workers
  LogSink log = stderr_log();
};

struct WorkerStats {
  std::int64_t completed = 0;
  std::int64_t retried = 0;
  std::int64_t dead = 0;
  std::int64_t unreadable = 0;
  std::int64_t fenced = 0;   // finished too late: another worker had taken the message; nothing was changed
  std::int64_t rescued = 0;  // taken over from a dead worker of either side
};

// Takes messages of the topics that it has handlers for, alongside workers in Python. Each message runs at least once,
// on the worker's own threads. The functions of this class are not thread-safe, except stats().
class Worker {
 public:
  using Handler = std::function<Answer(const Delivery&)>;

  explicit Worker(std::string_view url, WorkerOptions options = {});
  ~Worker();  // stop()
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Call it before start(). Up to `concurrency` messages of the topic run at a time, each on its own thread.
  //
  // A handler that returns has completed the message, unless it returns an Answer: retry_later(why) is a failure, as if
  // it had thrown; retry_after(delay, why) is one whose next attempt starts after `delay`, not after the message's own
  // delay; give_up(why) makes it a dead letter at once. Each of them counts as an attempt.
  void on(std::string topic, Handler handler, int concurrency = 5);
  template <std::invocable<const Delivery&> F>
  void on(std::string topic, F handler, int concurrency = 5) {
    if constexpr (std::is_constructible_v<F, std::nullptr_t>) {
      if (handler == nullptr) return on(std::move(topic), Handler{}, concurrency);  // is refused
    }
    on(std::move(topic),
       Handler{[handler = std::move(handler)](const Delivery& d) mutable { return detail::answer_of(handler, d); }},
       concurrency);
  }
  // The payload as a T. A payload that does not convert is a failure like any other.
  template <class T, class F>
  void on(std::string topic, F handler, int concurrency = 5) {
    on(std::move(topic), Handler{[handler = std::move(handler)](const Delivery& d) mutable {
         return detail::answer_of(handler, easyretry::from_json<T>(d.payload));
       }},
       concurrency);
  }

  void start();
  // Stops taking messages, lets handlers finish for up to `drain`, then returns unfinished messages to the front of the
  // queue without counting an attempt. Returns when the handlers have returned. A stopped worker cannot be restarted.
  void stop(Millis drain = std::chrono::seconds{20});

  WorkerStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::mxrmq
#pragma GCC visibility pop
