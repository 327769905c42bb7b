#include "trace/span_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace easyretry::trace {

void SpanQueue::put(const Span& span) {
  {
    const std::lock_guard lock{mutex_};
    if (closed_ || waiting_.size() >= most_) {
      ++counts_.dropped;
      return;
    }
    waiting_.push_back(span);
    if (waiting_.size() != 1 && waiting_.size() != batch_) return;  // the sender waits for neither
  }
  changed_.notify_one();
}

std::vector<Span> SpanQueue::take() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
  changed_.wait_for(lock, delay_, [this] { return closed_ || waiting_.size() >= batch_; });
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(batch_, waiting_.size()));
  std::vector<Span> batch{std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end)};
  waiting_.erase(waiting_.begin(), end);
  return batch;
}

bool SpanQueue::pause(Millis time) {
  std::unique_lock lock{mutex_};
  return !changed_.wait_for(lock, time, [this] { return closed_; });
}

void SpanQueue::close() {
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  changed_.notify_one();
}

void SpanQueue::drop_rest() {
  const std::lock_guard lock{mutex_};
  counts_.dropped += waiting_.size();
  waiting_.clear();
}

void SpanQueue::count_sent(std::size_t spans) {
  const std::lock_guard lock{mutex_};
  counts_.sent += spans;
}

void SpanQueue::count_dropped(std::size_t spans) {
  const std::lock_guard lock{mutex_};
  counts_.dropped += spans;
}

SpanCounts SpanQueue::counts() const {
  const std::lock_guard lock{mutex_};
  return counts_;
}

}  // namespace easyretry::trace
