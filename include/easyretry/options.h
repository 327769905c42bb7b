#pragma once
// The knobs of an engine, with defaults that suit one instance on one machine.

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
// Called from any of the engine's threads; must not block for long and must not throw.
using LogSink = std::function<void(LogLevel, std::string_view)>;

// Writes warnings and errors to stderr.
LogSink stderr_log();

struct EngineOptions {
  std::string space = "default";  // the namespace: applications sharing a store do not see each other's tasks
  int workers = 8;                // threads that run handlers
  Millis window{5000};            // how far ahead due tasks are read into memory
  Millis poll{500};               // how often a shared store that has no news of other processes' tasks is looked at
  Millis lease{30000};            // a dead instance's tasks are taken over after lease + window / 2
  Millis grace{30000};            // tasks overdue by this much are looked for in every shard, owned or not
  int max_crashes = 3;            // executions whose worker died before a task is quarantined
  std::size_t batch = 2000;       // rows a store call
  // Tasks held in memory at most, about 50 bytes each. As many again may be retried in memory (Persist::never in the
  // background), with their arguments; beyond that a failure is the caller's at once.
  std::size_t read_ahead = 200'000;
  std::size_t max_payload = 1'048'576;  // bytes of JSON arguments a task may have
  Millis drain{20000};                  // how long stop() lets running handlers finish
  // Instances of one namespace share its shards (docs/cluster.md).
  std::string membership = "store";            // where they meet: store, alone, static:2/8, or nacos://…
  Assignment assignment = Assignment::stride;  // which shards are whose
  AtStart at_start = AtStart::alone;           // before the first list of members
  Persist persist = Persist::retry_only;       // of handlers that do not say
  Encryption encryption{};                     // of arguments and results in the store; no keys: none
  LogSink log = stderr_log();
};

// Throws std::invalid_argument naming the field, its value and what would be right.
void validate(const EngineOptions& options);

struct HandlerOptions {
  // Executions at a time on this instance. 0: all workers when it is the only handler, three quarters of them
  // otherwise, so that one slow kind leaves room for the others.
  int concurrency = 0;
  // After this long the stop token of current_task() is set; what the handler then throws counts as a timeout, worth
  // retrying, and a result that still comes counts as one. A handler that does not return keeps its thread; its task
  // goes to someone else when the lease has run out. 0: no limit.
  Millis timeout{0};

  // Direct calls, `pay(order)`:
  std::optional<Persist> persist{};  // nullopt: as the engine says
  bool rethrow = false;              // what the first attempt threw is thrown to the caller also when it was stored
  bool wait = true;                  // Persist::never: the caller waits through the retries; false: in the background

  // What is stored carries this number. Older arguments go through `upgrade` before they are decoded; a task with a
  // newer one is left to an instance that knows it.
  int payload_version = 1;
  std::function<std::string(int from_version, std::string arguments)> upgrade{};
};

}  // namespace easyretry
