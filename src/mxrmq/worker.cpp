#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include <easyretry/mxrmq.h>

#include "mxrmq/crew.h"
#include "mxrmq/keeper.h"
#include "mxrmq/new_id.h"

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

// One connection for each topic that waits, and some for what must not wait.
QueueOptions with_connections(QueueOptions options, std::size_t topics) {
  constexpr std::size_t kBesides = 4;
  options.connections = std::max(options.connections, topics + kBesides);
  return options;
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
    settler_.emplace(*link_, holdings_, tally_, options_.log);
    std::vector<std::string> names;
    for (const auto& [name, topic] : topics_) names.push_back(name);
    keeper_.emplace(*link_, holdings_, tally_, KeeperOptions{names, worker_, options_});
    for (const auto& [name, topic] : topics_) {
      crews_.push_back(std::make_unique<Crew>(
          *link_, holdings_, *settler_,
          CrewOptions{name, topic.handler, topic.concurrency, worker_, options_.lease, options_.log}));
    }
  }

  void stop(Millis drain) {
    if (!started_ || std::exchange(stopped_, true)) return;
    for (const auto& crew : crews_) crew->stop_taking();
    if (!holdings_.wait_until_empty(drain)) give_back();
    crews_.clear();
    settler_.reset();
    keeper_.reset();  // until now, it renewed
  }

  WorkerStats stats() const { return tally_.stats(); }

 private:
  struct Topic {
    Handler handler;
    int concurrency;
  };

  // What their handlers still do is theirs to finish; its end will not count.
  void give_back() {
    for (const Holdings::Held& each : holdings_.all()) {
      holdings_.lost(each.hold);
      try {
        release(*link_, each.topic, {&each.hold, 1});
      } catch (const ServerError& error) {
        options_.log(LogLevel::warning,
                     "mxrmq: message " + each.hold.id +
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
  Holdings holdings_;
  Tally tally_;
  std::optional<Link> link_;
  std::optional<Settler> settler_;
  std::optional<Keeper> keeper_;
  std::vector<std::unique_ptr<Crew>> crews_;
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
