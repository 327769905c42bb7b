#include "call/config_follower.h"

namespace easyretry::call {
namespace {

constexpr Millis kLookEvery{1000};

}  // namespace

ConfigFollower::ConfigFollower(engine::Core& core, const std::string& config, Environment environment, Reload reload)
    : core_(core), reload_(std::move(reload)), watch_(config, std::move(environment), core.options().log) {
  if (const auto why = watch_.waits_for()) {
    core_.log(LogLevel::warning, "configuration not loaded yet: " + *why);
  } else {
    apply(watch_.current());
  }
  loop_ = std::make_unique<engine::RunLoop>("er-config", core_, wakeup_, [this] {
    look();
    return engine::Step{false, core_.clock().steady() + kLookEvery};
  });
}

void ConfigFollower::look() {
  const auto not_changed = [this](const std::string& why) {
    core_.log(LogLevel::error, "configuration not changed: " + why);
  };
  try {
    const auto news = watch_.step();
    if (!news) return;
    if (!*news) return not_changed(news->error().what());
    apply(**news);
  } catch (const std::invalid_argument& e) {
    not_changed(e.what());
  }
}

void ConfigFollower::apply(const Config& wanted) {
  for (const ConfigChange& change : reload_(wanted)) {
    core_.log(change.live ? LogLevel::info : LogLevel::warning, "configuration, " + change.key + ": " + change.from +
                                                                    " -> " + change.to +
                                                                    (change.live ? "" : " (needs a restart)"));
  }
}

}  // namespace easyretry::call
