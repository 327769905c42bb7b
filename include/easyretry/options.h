#pragma once
// The settings of an engine. The defaults suit one instance on one machine.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/cluster.h>
#include <easyretry/encryption.h>
#include <easyretry/persist.h>
#include <easyretry/time.h>

namespace easyretry {

enum class LogLevel { info, warning, error };
// Called from any thread of the engine; must not block for long and must not throw.
using LogSink = std::function<void(LogLevel, std::string_view)>;

// Writes warnings and errors to stderr.
LogSink stderr_log();

struct EngineOptions {
  // The namespace. Applications that share a store do not see the tasks of other namespaces.
  std::string space = "default";
  int workers = 8;           // threads that run handlers
  Millis window{5000};       // how far ahead due tasks are read into memory
  Millis poll{500};          // how often to read a shared store that does not announce other processes' tasks
  Millis lease{30000};       // the tasks of a dead instance are taken over after lease + window / 2
  Millis grace{30000};       // tasks overdue by this much are run from any shard, owned or not
  int max_crashes = 3;       // a task is quarantined after this many executions whose worker died
  std::size_t batch = 2000;  // rows per store call
  // Maximum number of tasks read ahead into memory, about 50 bytes each. The same number again may be retried in memory
  // (Persist::never in the background), with their arguments; beyond that, a failure goes to the caller at once.
  std::size_t read_ahead = 200'000;
  std::size_t max_payload = 1'048'576;  // maximum size of a task's JSON arguments, in bytes
  Millis drain{20000};                  // how long stop() waits for running handlers
  // Instances of one namespace share its shards (docs/cluster.md).
  std::string membership = "store";            // how they find each other: store, alone, static:2/8, or nacos://…
  Assignment assignment = Assignment::stride;  // which instance owns which shards
  AtStart at_start = AtStart::alone;           // until the first list of members
  Persist persist = Persist::retry_only;       // for handlers that do not set it
  Encryption encryption{};                     // of stored arguments and results; off without keys
  LogSink log = stderr_log();
};

// Throws std::invalid_argument with the field, its value and what is allowed.
void validate(const EngineOptions& options);

struct HandlerOptions {
  // Maximum concurrent executions on this instance. 0: all workers if this is the only handler, otherwise three
  // quarters of them, so that a slow handler leaves room for the others.
  int concurrency = 0;
  // After this long, the stop token of current_task() is set. An exception after that counts as a timeout, which is
  // retried; a result that still arrives counts as a result. A handler that does not return keeps its thread; another
  // instance takes over its task when the lease expires. 0: no limit.
  Millis timeout{0};

  // Direct calls, `pay(order)`:
  std::optional<Persist> persist{};  // nullopt: the engine's setting
  bool rethrow = false;              // rethrow the first attempt's exception to the caller even if it was stored
  bool wait = true;  // Persist::never: the caller waits for the retries; false: they run in the background

  // Stored with each task. Older arguments go through `upgrade` before they are decoded; a task with a newer version is
  // left to an instance that supports it.
  int payload_version = 1;
  std::function<std::string(int from_version, std::string arguments)> upgrade{};
};

}  // namespace easyretry
