#pragma once
// The configuration of a running engine: how it applies to registered handlers, and what a new one changes.

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <easyretry/config.h>
#include <easyretry/detail/erased_handler.h>

#include "engine/handlers.h"

namespace easyretry::call {

// Thread-safe.
class Configuration {
 public:
  explicit Configuration(Config config, ExceptionNames names = {})
      : names_(std::move(names)), running_(std::move(config)) {}

  // A handler's settings in the code.
  struct Registered {
    Policy policy;
    HandlerOptions options;
  };
  // Sets the handler's policy and options from its own entry, its registration, and the defaults, in this order, and
  // returns the registration. Throws ConfigError for an exception type without a known name.
  Registered settle(detail::Handler& handler) const;
  // Call this when the handler has been registered.
  void remember(const std::string& name, Registered code);

  struct Reload {
    std::vector<ConfigChange> changes;
    Config next;  // the wanted one, except for fields that cannot change while the engine runs
    std::map<std::string, engine::HandlerSettings> handlers;
  };
  // Finds out what `wanted` would change, and changes nothing. Throws ConfigError.
  Reload prepare(const Config& wanted) const;
  void commit(Reload reload);

  // Handlers that the configuration names and the code did not register.
  std::vector<std::string> unknown_handlers() const;

 private:
  engine::HandlerSettings settings(const Config& config, const std::string& name, const Registered& code) const;

  const ExceptionNames names_;
  mutable std::mutex mutex_;
  Config running_;                                // guarded by mutex_
  std::map<std::string, Registered> registered_;  // guarded by mutex_
};

}  // namespace easyretry::call
