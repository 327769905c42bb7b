#include "alert/alert_service.h"

#include <algorithm>
#include <stdexcept>

#include <pthread.h>

#include "storage/lag.h"

namespace easyretry::alert {
namespace {

constexpr std::size_t kTasksPerShard = 16;
constexpr Millis kShortestRound{200};
constexpr Millis kLongestRound{10'000};
constexpr int kRoundsPerLimit = 10;

// Often enough to see changes within a window, and an age before it is 10 % too high.
Millis round_for(const AlertsConfig& alerts) {
  Millis shortest = kLongestRound;
  for (const auto& [name, rule] : alerts.rules) {
    shortest = std::min(shortest, rule.window / kRoundsPerLimit);
    if (rule.backlog_age > Millis{0}) shortest = std::min(shortest, rule.backlog_age / kRoundsPerLimit);
    if (rule.circuit_open > Millis{0}) shortest = std::min(shortest, rule.circuit_open / kRoundsPerLimit);
  }
  return std::max(shortest, kShortestRound);
}

std::unique_ptr<webhook::Caller> make_caller(const Config& config) {
  if (config.alerts.channels.empty()) return nullptr;
  return std::make_unique<webhook::Caller>(webhook::CallerOptions{.guard = webhook::Guard{config.server.may_call}});
}

// The first member of the list; as long as there is no list, any instance with shards.
bool is_first(const ClusterView& view) {
  return view.members.empty() ? !view.shards.empty() : view.members.front().node == view.self;
}

}  // namespace

std::unique_ptr<Channel> open_channel(const std::string& name, const AlertChannel& channel, webhook::Caller& caller) {
  try {
    return open_channel(channel, caller);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument("alerts.channels." + name + ": " + e.what());
  }
}

AlertService::AlertService(const Config& config, std::vector<engine::Core*> engines)
    : config_(config.alerts),
      engines_(std::move(engines)),
      round_(round_for(config.alerts)),
      queue_(std::make_shared<AlertQueue>(config.alerts)),
      caller_(make_caller(config)) {
  for (const auto& [name, channel] : config.alerts.channels) {
    senders_.push_back(
        std::make_unique<Sender>(name, open_channel(name, channel, *caller_), *queue_, sent_, config.engine.log));
  }
  if (config.alerts.rules.empty()) return;
  for (engine::Core* core : engines_) {
    core->events().add([queue = queue_](const Event& event) { queue->feed(event); }, Delivery::direct);
  }
  watching_ = std::jthread{[this](const std::stop_token& stop) { watch(stop); }};
}

AlertService::~AlertService() {
  stop();
}

void AlertService::stop() {
  stopped_.request_stop();
  watching_ = {};
  for (const auto& sender : senders_) sender->stop();
  senders_.clear();
}

void AlertService::watch(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "er-alert-watch");
  while (queue_->sleep(round_, stop)) {
    if (queue_->wants_backlog()) look_at_backlogs();
    if (queue_->wants_circuits()) look_at_circuits();
    queue_->tick();
  }
}

// This reads the whole store, so one instance does it for all. A store that does not answer says nothing about ages.
void AlertService::look_at_backlogs() {
  for (engine::Core* core : engines_) {
    if (!is_first(core->cluster())) continue;
    const std::string& name = core->options().name_space;
    const auto lag = storage::look_for_lag(core->store(), name, kTasksPerShard);
    if (lag) queue_->feed_backlog(name, lag->handlers, lag->complete);
  }
}

void AlertService::look_at_circuits() {
  for (engine::Core* core : engines_) {
    std::vector<Rules::OpenCircuit> open;
    for (CircuitInfo& one : core->circuits()) {
      if (one.state != CircuitState::open) continue;
      open.push_back({std::move(one.name), std::move(one.handlers), core->store_now() - *one.since});
    }
    queue_->feed_circuits(core->options().name_space, open);
  }
}

// On a channel of its own: a channel belongs to its sender's thread.
AlertService::Tested AlertService::test(const std::string& channel) {
  const AlertChannel& config = config_.channels.at(channel);
  const std::unique_lock alone{testing_, std::try_to_lock};
  if (!alone) return {.wait = kShortestRound};
  if (const auto wait = queue_->take_turn(channel)) return {.wait = wait};
  const Message message{.test = true};
  SendResult result;
  try {
    result = open_channel(config, *caller_)->send(message, new_message_id(), stopped_.get_token());
  } catch (const std::invalid_argument& e) {
    result.why = e.what();  // its secret can no longer be read
  }
  sent_.note({system_clock().now(), channel, message, 1, result.arrived, result.why});
  return {.result = std::move(result)};
}

std::vector<AlertService::Count> AlertService::counts() const {
  std::vector<Count> counts;
  for (const auto& sender : senders_) counts.push_back({sender->name(), sender->delivered(), sender->failed()});
  return counts;
}

}  // namespace easyretry::alert

namespace easyretry::call {

const AlertsPart* easyretry_alerts() {
  static constexpr AlertsPart kPart{[](const Config& config, engine::Core& engine) -> std::unique_ptr<AlertSender> {
    return std::make_unique<alert::AlertService>(config, std::vector{&engine});
  }};
  return &kPart;
}

}  // namespace easyretry::call
