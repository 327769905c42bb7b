#pragma once
// The alerts and the traces of an engine inside an application. Parts of the library send them (alert/alert_service.h,
// trace/trace_service.h).

#include <memory>

#include <easyretry/config.h>

#include "base/part.h"

namespace easyretry::engine {
class Core;
}

namespace easyretry::call {

class AlertSender {
 public:
  virtual ~AlertSender() = default;
  // Call it after the engine has stopped: its last events are sent, for a few seconds at most.
  virtual void stop() = 0;
};

struct AlertsPart {
  // Listens to the engine, which outlives the result and has not started yet. Throws std::invalid_argument that names
  // the channel that is wrong.
  std::unique_ptr<AlertSender> (*open)(const Config& config, engine::Core& engine);
};

extern "C" EASYRETRY_OPTIONAL const AlertsPart* easyretry_alerts();

class TraceSender {
 public:
  virtual ~TraceSender() = default;
  // Call it after the engine has stopped: its last spans are sent, for a few seconds at most.
  virtual void stop() = 0;
};

struct TracingPart {
  // Whether the environment asks for traces. Throws std::invalid_argument that names the variable that is wrong.
  bool (*wanted)();
  // Listens to the engine, which outlives the result and has not started yet.
  std::unique_ptr<TraceSender> (*open)(const Config& config, engine::Core& engine);
};

extern "C" EASYRETRY_OPTIONAL const TracingPart* easyretry_tracing();

}  // namespace easyretry::call
