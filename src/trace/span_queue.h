#pragma once
// The spans that wait to be sent: a bounded number, and further ones are dropped and counted. Thread-safe. Shared by
// the engines' listeners, which never wait, and the one thread that sends.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <easyretry/event.h>

namespace easyretry::trace {

struct SpanCounts {
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;
};

class SpanQueue {
 public:
  SpanQueue(std::size_t most, std::size_t batch, Millis delay) : most_(most), batch_(batch), delay_(delay) {}

  void put(const Span& span);

  // Waits until a batch is full or its first span has waited for the delay. Empty: closed, and nothing is left.
  std::vector<Span> take();
  // False: closed meanwhile.
  bool pause(Millis time);
  // take() no longer waits, and put() drops.
  void close();
  // Drops the rest and counts it.
  void drop_rest();

  void count_sent(std::size_t spans);
  void count_dropped(std::size_t spans);
  SpanCounts counts() const;

 private:
  const std::size_t most_;
  const std::size_t batch_;
  const Millis delay_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_
  std::vector<Span> waiting_;
  bool closed_ = false;
  SpanCounts counts_;
};

}  // namespace easyretry::trace
