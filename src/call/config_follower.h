#pragma once
// Follows a configuration in a file or in Nacos: a change is applied about two seconds later.

#include <functional>
#include <vector>

#include <easyretry/config.h>

#include "config/watch.h"
#include "engine/threads.h"

namespace easyretry::call {

class ConfigFollower {
 public:
  // Returns the changes that were made. Throws std::invalid_argument, ConfigError for example, if nothing was changed.
  using Reload = std::function<std::vector<ConfigChange>(const Config&)>;

  // Calls `reload` once before it returns, because the configuration may have changed since the engine was created, and
  // from then on, on a thread of its own, whenever it has changed. Changes and errors go to the log of `core`. Throws
  // ConfigError if the configuration is wrong.
  ConfigFollower(engine::Core& core, const std::string& config, Environment environment, Reload reload);

 private:
  void look();
  void apply(const Config& wanted);

  engine::Core& core_;
  const Reload reload_;
  ConfigWatch watch_;
  engine::Wakeup wakeup_;
  std::unique_ptr<engine::RunLoop> loop_;  // last: its thread uses the others
};

}  // namespace easyretry::call
