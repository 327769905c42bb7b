// Spans of tasks for an application's own tracer. It needs no collector: OTEL_* variables would send them
// (docs/tracing.md).

#include <iostream>
#include <stdexcept>

#include <easyretry/testing.h>

using namespace easyretry;
using namespace std::chrono_literals;

namespace {

// 00-<trace id>-<span id>-<flags>
std::string span_id(const std::string& traceparent) {
  return traceparent.substr(36, 16);
}

}  // namespace

int main() {
  testing::ManualEngine engine;  // in a service: Engine engine{"sqlite:retry.db"};
  std::vector<Span> spans;
  engine.on_span([&](const Span& span) { spans.push_back(span); });

  int calls = 0;
  auto pay = engine.retryable(
      "pay",
      [&](const std::string&) {
        // Spans that the handler begins are children of this one.
        const std::string& parent = current_task()->info.traceparent;
        if (++calls == 1) throw std::runtime_error("the bank is busy");
        std::cout << "paid in trace " << parent.substr(3, 32) << "\n";
      },
      Policy{.backoff = Fixed{1s}});

  // The traceparent of the request that is being served.
  pay.with({.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}).submit("order-1");
  engine.drain();

  const std::string submit = span_id(spans[0].traceparent);
  for (const Span& span : spans) {
    std::cout << span.name << (span.parent == submit ? ", below the submit" : "")
              << (span.links.empty() ? "" : ", linked to the attempt before it")
              << (span.failed ? ", failed: " + span.error : "") << "\n";
  }
}

// Prints:
// paid in trace 4bf92f3577b34da6a3ce929d0e0e4736
// submit pay
// attempt pay, below the submit, failed: the bank is busy
// attempt pay, below the submit, linked to the attempt before it
