#pragma once
// Sends the spans of a process's engines to a collector: OTLP over HTTP, in batches, on a thread of its own.
//
// A collector that is away or overloaded is asked again, after pauses; meanwhile spans wait, up to a bound, and further
// ones are dropped and counted. Tasks never wait for any of this.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <easyretry/config.h>

#include "base/random.h"
#include "call/senders.h"
#include "engine/core.h"
#include "trace/settings.h"
#include "trace/span_queue.h"

namespace easyretry::trace {

// The meaning of the answer to a batch.
struct Verdict {
  bool taken = false;
  bool again = false;  // not taken, but worth another try
  std::optional<Millis> retry_after{};
  std::string why{};           // it was not taken
  std::uint64_t rejected = 0;  // spans of a batch that was taken otherwise
};

// By the specification of OTLP: 429, 502, 503 and 504 are worth another try. Pure. `retry_after`: the header, or empty.
Verdict verdict_of(const tl::expected<http::ClientReply, http::NoAnswer>& answer, std::string_view retry_after);

// How long to wait after this many failed tries in a row: 1 s, doubling up to 30 s; as long as the collector says, but
// not more than 5 minutes. `random` in [0, 1) shortens the former by up to a quarter. Pure.
Millis pause_after(int tries, const std::optional<Millis>& retry_after, double random);

class TraceService final : public call::TraceSender {
 public:
  TraceService(Settings settings, LogSink log);
  ~TraceService() override;  // stop()
  TraceService(const TraceService&) = delete;
  TraceService& operator=(const TraceService&) = delete;

  // Before the engine starts. It may outlive this.
  void listen(engine::Core& engine);
  // Call it after the engines have stopped. Sends what is left, for three seconds at most.
  void stop() override;

  SpanCounts counts() const { return queue_->counts(); }

 private:
  void work();
  bool deliver(const std::vector<Span>& batch);
  Verdict post(const std::string& body);
  void note(const Verdict& verdict);

  const Settings settings_;
  const LogSink log_;
  const std::shared_ptr<SpanQueue> queue_;  // shared with the engines' listeners
  std::stop_source stopping_;
  std::atomic<Instant> end_{Instant::max()};  // until when spans are sent after a stop
  // Of the thread
  http::Client client_;
  base::Random random_{base::random_seed()};
  bool away_ = false;    // the last batch was not taken
  std::jthread thread_;  // last: it uses all of the above
};

// Null: the variables OTEL_* do not ask for traces. Throws std::invalid_argument as read_settings() does.
std::unique_ptr<TraceService> open_tracing(const std::string& service, const LogSink& log);

}  // namespace easyretry::trace
