#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <easyretry/mxrmq.h>

#include "mxrmq/settler.h"
#include "mxrmq/topic_runner.h"

namespace easyretry::mxrmq {
namespace {

void check(const WorkerOptions& options) {
  constexpr Millis kShortestLease{100};
  if (options.lease < kShortestLease) throw std::invalid_argument("WorkerOptions::lease must be at least 100 ms");
  if (options.poll <= Millis{0}) throw std::invalid_argument("WorkerOptions::poll must be more than 0");
  if (options.reap <= Millis{0}) throw std::invalid_argument("WorkerOptions::reap must be more than 0");
  if (options.max_lost < 0) throw std::invalid_argument("WorkerOptions::max_lost must be 0 or more");
  if (!options.log) throw std::invalid_argument("WorkerOptions::log must not be empty");
}

// One connection for each topic, which may block, and some for everything else.
QueueOptions with_connections(QueueOptions options, std::size_t topics) {
  constexpr std::size_t kBesides = 4;
  options.connections = std::max(options.connections, topics + kBesides);
  return options;
}

struct MaintenanceOptions {
  std::vector<std::string> topics;
  std::string worker;
  WorkerOptions timing;
};

ReaperOptions reaper_options(const MaintenanceOptions& options) {
  ReaperOptions reaper{.worker = options.worker, .max_lost = options.timing.max_lost};
  reaper.lease = std::min(reaper.lease, options.timing.lease);
  return reaper;
}

// Everything a worker does besides running messages: renews its leases, makes delayed messages available when they are
// due, and takes over the messages of dead workers. Has its own thread.
class Maintenance {
 public:
  Maintenance(QueueConnection& link, HeldMessages& held, WorkerCounters& counters, MaintenanceOptions options);
  ~Maintenance();
  Maintenance(const Maintenance&) = delete;
  Maintenance& operator=(const Maintenance&) = delete;

 private:
  using Steady = std::chrono::steady_clock;

  void run();
  void renew();
  // Each does a limited amount, so that renewals are not delayed, and returns the pause until its next run.
  Millis promote();
  Millis reap();
  template <class Work>
  void guarded(const std::string& what, Work work);

  QueueConnection& link_;
  HeldMessages& held_messages_;
  WorkerCounters& counters_;
  const MaintenanceOptions options_;
  Reaper reaper_;
  TroubleLog trouble_log_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_

  std::jthread thread_;
};

Maintenance::Maintenance(QueueConnection& link, HeldMessages& held, WorkerCounters& counters,
                         MaintenanceOptions options)
    : link_(link),
      held_messages_(held),
      counters_(counters),
      options_(std::move(options)),
      reaper_(link, reaper_options(options_)),
      trouble_log_(options_.timing.log),
      thread_([this] { run(); }) {}

Maintenance::~Maintenance() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
}

void Maintenance::run() {
  const Millis renewal = std::max(options_.timing.lease / 3, Millis{1});
  auto next_renewal = Steady::now() + renewal;
  auto next_reaping = Steady::now();
  while (true) {
    Millis pause = options_.timing.poll;
    guarded("delayed messages", [&] { pause = promote(); });
    if (Steady::now() >= next_renewal) {
      guarded("leases", [this] { renew(); });
      next_renewal = Steady::now() + renewal;
    }
    if (Steady::now() >= next_reaping) {
      Millis rest = options_.timing.reap;
      guarded("messages of dead workers", [&] { rest = reap(); });
      next_reaping = Steady::now() + rest;
    }
    const auto until = std::min({Steady::now() + pause, next_renewal, next_reaping});
    std::unique_lock lock{mutex_};
    if (changed_.wait_until(lock, until, [this] { return stopping_; })) return;
  }
}

template <class Work>
void Maintenance::guarded(const std::string& what, Work work) {
  const std::string trouble = what + " cannot be processed";
  try {
    work();
    trouble_log_.worked(trouble);
  } catch (const ServerError& error) {
    trouble_log_.failed(trouble, error.what());
  }
}

void Maintenance::renew() {
  const std::vector<HeldMessages::Held> held = held_messages_.all();
  for (std::size_t from = 0; from < held.size(); from += kMessagesACall) {
    std::vector<Lease> some;
    for (std::size_t i = from; i < std::min(held.size(), from + kMessagesACall); ++i) some.push_back(held[i].lease);
    const std::vector<bool> kept = heartbeat(link_, options_.timing.lease, some);
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!kept[i]) held_messages_.lost(some[i]);
    }
  }
}

Millis Maintenance::promote() {
  const Promotion found = mxrmq::promote(link_);
  return found.next < 0 ? options_.timing.poll : std::min(options_.timing.poll, Millis{found.next});
}

Millis Maintenance::reap() {
  for (const std::string& topic : options_.topics) reaper_.adopt(topic);
  const Reaper::Round round = reaper_.reap();
  counters_.rescued += round.settled;
  return round.more ? Millis{0} : options_.timing.reap;
}

}  // namespace

class Worker::Impl {
 public:
  Impl(std::string_view url, WorkerOptions options) : url_(parse_queue_url(url)), options_(std::move(options)) {
    check(options_);
  }

  void on(std::string topic, Handler handler, int concurrency) {
    if (started_) throw std::invalid_argument("call Worker::on before start()");
    if (topic.empty() || !handler) throw std::invalid_argument("Worker::on needs a topic and a handler");
    if (concurrency < 1) throw std::invalid_argument("Worker::on: the concurrency must be at least 1");
    if (!topics_.emplace(topic, Topic{std::move(handler), concurrency}).second) {
      throw std::invalid_argument("the topic " + topic + " already has a handler");
    }
  }

  void start() {
    if (started_) throw std::invalid_argument("a Worker can be started only once");
    if (topics_.empty()) throw std::invalid_argument("a Worker without a handler has nothing to do; see on()");
    link_.emplace(with_connections(url_, topics_.size()));
    started_ = true;
    settler_.emplace(*link_, held_messages_, counters_, options_.log);
    std::vector<std::string> names;
    for (const auto& [name, topic] : topics_) names.push_back(name);
    maintenance_.emplace(*link_, held_messages_, counters_, MaintenanceOptions{names, worker_, options_});
    for (const auto& [name, topic] : topics_) {
      runners_.push_back(std::make_unique<TopicRunner>(
          *link_, held_messages_, *settler_,
          TopicRunnerOptions{name, topic.handler, topic.concurrency, worker_, options_.lease, options_.log}));
    }
  }

  void stop(Millis drain) {
    if (!started_ || std::exchange(stopped_, true)) return;
    for (const auto& runner : runners_) runner->stop_taking();
    if (!held_messages_.wait_until_empty(drain)) give_back();
    runners_.clear();
    settler_.reset();
    maintenance_.reset();  // last, because it renews leases until now
  }

  WorkerStats stats() const { return counters_.stats(); }

 private:
  struct Topic {
    Handler handler;
    int concurrency;
  };

  // Their handlers still run to the end, but the outcome does not count.
  void give_back() {
    for (const HeldMessages::Held& each : held_messages_.all()) {
      held_messages_.lost(each.lease);
      try {
        release(*link_, each.topic, {&each.lease, 1});
      } catch (const ServerError& error) {
        options_.log(LogLevel::warning,
                     "mxrmq: message " + each.lease.id +
                         " could not be given back; it is taken over when its lease expires: " + error.what());
      }
    }
  }

  const QueueOptions url_;
  const WorkerOptions options_;
  const std::string worker_ = new_id();
  std::map<std::string, Topic> topics_;
  bool started_ = false;
  bool stopped_ = false;
  HeldMessages held_messages_;
  WorkerCounters counters_;
  std::optional<QueueConnection> link_;
  std::optional<Settler> settler_;
  std::optional<Maintenance> maintenance_;
  std::vector<std::unique_ptr<TopicRunner>> runners_;
};

Worker::Worker(std::string_view url, WorkerOptions options) : impl_(std::make_unique<Impl>(url, std::move(options))) {}

Worker::~Worker() {
  stop();
}

void Worker::on(std::string topic, Handler handler, int concurrency) {
  impl_->on(std::move(topic), std::move(handler), concurrency);
}
void Worker::start() {
  impl_->start();
}
void Worker::stop(Millis drain) {
  impl_->stop(drain);
}
WorkerStats Worker::stats() const {
  return impl_->stats();
}

}  // namespace easyretry::mxrmq
