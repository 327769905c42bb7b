#pragma once
// The settings of an engine and of a handler. The defaults suit one instance on one machine.

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/cluster.h>
#include <easyretry/encryption.h>
#include <easyretry/time.h>

#pragma GCC visibility push(default)
namespace easyretry {

enum class LogLevel { debug, info, warning, error };
// Called from any thread of the engine; must not block for long and must not throw.
using LogSink = std::function<void(LogLevel, std::string_view)>;

enum class LogFormat { text, json };
struct LogOptions {
  LogLevel level = LogLevel::warning;  // lines below it are dropped
  LogFormat format = LogFormat::text;
};

// Writes to stderr, one line per message, whatever characters it contains:
//   2026-03-01T12:00:00.000Z easyretry: warning: the message
//   {"level":"warning","message":"the message","time":"2026-03-01T12:00:00.000Z"}
LogSink stderr_log(LogOptions options = {});

// When a direct call, `pay(order)`, is written to the store.
enum class Persist {
  retry_only,  // after the first attempt failed, if the failure is worth retrying
  on_failure,  // after the first attempt failed; a failure not worth retrying goes straight to history
  always,      // before the first attempt, leased to the caller; if the process dies, another instance takes over
  manual,      // when the caller asks for it: pay.store(order, why)
  never,       // never: failures are retried in memory
};

struct EngineOptions {
  // The namespace. Applications that share a store do not see the tasks of other namespaces.
  std::string name_space = "default";
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
  std::size_t max_payload = 1'048'576;  // maximum size of a task's JSON arguments, and of a result kept, in bytes
  Millis drain{20000};                  // how long stop() waits for running handlers
  // Instances of one namespace share its shards (docs/cluster.md).
  std::string membership = "store";            // how they find each other: store, alone, static:2/8, or nacos://…
  Assignment assignment = Assignment::stride;  // which instance owns which shards
  AtStart at_start = AtStart::alone;           // until the first list of members
  Persist persist = Persist::retry_only;       // for handlers that do not set it
  Encryption encryption{};                     // of stored arguments and results; off without keys
  LogSink log = stderr_log();
  // Says more about the exception of a final failure, such as a stack trace that the application attached to it. The
  // text is added to the log, up to 4 KiB of it. Called inside a catch block for the exception, on the thread of the
  // attempt; off without a function (docs/calls.md).
  std::function<std::string(const std::exception_ptr& thrown)> failure_details{};
};

// Throws std::invalid_argument with the field, its value and what is allowed.
void validate(const EngineOptions& options);

// Limits how many tasks run at a time and start per second, on all instances of a namespace together (docs/limits.md).
// A field that is left out sets no limit.
struct LimitOptions {
  std::optional<int> running{};        // 0: nothing starts
  std::optional<double> per_second{};  // starts
  int burst = 1;                       // as many starts may come at once after a quiet time

  bool any() const { return running || per_second; }
  friend bool operator==(const LimitOptions&, const LimitOptions&) = default;
};

// Throws std::invalid_argument with the field, its value and what is allowed.
void validate(const LimitOptions& options);

// A circuit holds back the tasks of its handlers while what they call mostly fails, so that an outage neither gets
// worse nor uses up their attempts (docs/circuits.md).
struct CircuitOptions {
  std::string name{};     // handlers with the same name share a circuit; empty: the handler's own name
  double trip_at = 0.5;   // opens when more than this share of the attempts has failed; 1: never …
  Millis window{10'000};  // … within this time
  int least = 20;         // … of at least this many attempts
  double probes = 1;      // attempts per second that are made while all of them fail
  LimitOptions limit{};   // of all its handlers together, whether it is open or closed
  // Of the attempts that start on an instance, retries are at most this share, and `probes` per second more: 0.2. The
  // others wait, open or closed. nullopt: any share.
  std::optional<double> retries_at_most{};

  friend bool operator==(const CircuitOptions&, const CircuitOptions&) = default;
};

// Throws std::invalid_argument with the field, its value and what is allowed.
void validate(const CircuitOptions& options);

// In code, a `concurrency`, `timeout` or `keep_results` of 0 counts as not set: `defaults` of a configuration apply.
// Only a handler's entry in the configuration overrides these defaults with 0.
struct HandlerOptions {
  // Maximum concurrent executions on this instance. 0: all workers if this is the only handler, otherwise three
  // quarters of them, so that a slow handler leaves room for the others.
  int concurrency = 0;
  // After this long, the stop token of current_task() is set. An exception after that counts as a timeout, which is
  // retried; a result that still arrives counts as a result. A handler that does not return keeps its thread; another
  // instance takes over its task when the lease expires. 0: no limit.
  Millis timeout{0};
  // nullopt: none, unless a configuration has one.
  std::optional<CircuitOptions> circuit{};
  // For all instances together. nullopt: none, unless a configuration has one.
  std::optional<LimitOptions> limit{};
  // The class of its tasks, unless a submission sets one. nullopt: normal, unless a configuration has another.
  std::optional<TaskClass> task_class{};
  // The results of its tasks are kept with history for this long, as JSON, for wait() and the API. 0: not at all. A
  // result longer than EngineOptions::max_payload is left out.
  Millis keep_results{0};

  // How long ended tasks stay in history, if that is shorter than the store keeps them (`keep_months`); 0: not at all.
  // nullopt: as long as the store keeps them. Quarantined and parked tasks always stay that long.
  std::optional<Millis> keep{};
  // The same for their arguments alone. Without arguments a task cannot be requeued.
  std::optional<Millis> keep_args{};

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
#pragma GCC visibility pop
