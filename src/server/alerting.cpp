#include "server/alerting.h"

#include <algorithm>
#include <stdexcept>

#include <pthread.h>

#include "storage/lag.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kTasksAShard = 16;
constexpr Millis kShortestRound{200};
constexpr Millis kLongestRound{10'000};
constexpr int kRoundsALimit = 10;

// Often enough to see changes within a window, and an age before it is 10 % too high.
Millis round_for(const AlertsConfig& alerts) {
  Millis shortest = kLongestRound;
  for (const auto& [name, rule] : alerts.rules) {
    shortest = std::min(shortest, rule.window / kRoundsALimit);
    if (rule.backlog_age > Millis{0}) shortest = std::min(shortest, rule.backlog_age / kRoundsALimit);
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

std::unique_ptr<alert::Channel> open_channel(const std::string& name, const AlertChannel& channel,
                                             webhook::Caller& caller) {
  try {
    return alert::open_channel(channel, caller);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument("alerts.channels." + name + ": " + e.what());
  }
}

Alerting::Alerting(const Config& config, Spaces spaces)
    : spaces_(std::move(spaces)),
      round_(round_for(config.alerts)),
      desk_(std::make_shared<alert::AlertQueue>(config.alerts)),
      caller_(make_caller(config)) {
  for (const auto& [name, channel] : config.alerts.channels) {
    couriers_.push_back(
        std::make_unique<alert::Sender>(name, open_channel(name, channel, *caller_), *desk_, config.engine.log));
  }
  if (config.alerts.rules.empty()) return;
  for (const auto& [name, space] : spaces_) {
    space->core().events().add([desk = desk_](const Event& event) { desk->feed(event); }, Delivery::direct);
  }
  watching_ = std::jthread{[this](const std::stop_token& stop) { watch(stop); }};
}

Alerting::~Alerting() {
  stop();
}

void Alerting::stop() {
  watching_ = {};
  for (const auto& courier : couriers_) courier->stop();
  couriers_.clear();
}

void Alerting::watch(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "er-alert-watch");
  while (desk_->sleep(round_, stop)) {
    if (desk_->wants_backlog()) look_at_backlogs();
    desk_->tick();
  }
}

// This reads the whole store, so one instance does it for all. A store that does not answer says nothing about ages.
void Alerting::look_at_backlogs() {
  for (const auto& [name, space] : spaces_) {
    engine::Core& core = space->core();
    if (!is_first(core.cluster())) continue;
    const auto lag = storage::look_for_lag(core.store(), name, kTasksAShard);
    if (lag) desk_->feed_backlog(name, lag->handlers, lag->complete);
  }
}

std::vector<Alerting::Count> Alerting::counts() const {
  std::vector<Count> counts;
  for (const auto& courier : couriers_) counts.push_back({courier->name(), courier->delivered(), courier->failed()});
  return counts;
}

}  // namespace easyretry::server
