#include "engine/thread_workers.h"

#include <algorithm>

#include <pthread.h>

#include "engine/attempt.h"

namespace easyretry::engine {
namespace {

// Tasks claimed ahead should run within this time.
constexpr auto kAhead = std::chrono::milliseconds{20};

// A fast handler may be slow the next time: a few runs say little about hundreds.
constexpr std::size_t kGrowth = 8;

// The speed of executions in the current or the last complete window, whichever had more of them.
class Pace {
 public:
  void add(Instant now, Instant::duration took) {
    turn(now);
    ++current_.finished;
    current_.busy += took;
  }
  // How many executions this many threads should finish in `kAhead`.
  std::size_t ahead(Instant now, std::size_t threads) {
    turn(now);
    const auto& [finished, busy] = current_.finished > last_.finished ? current_ : last_;
    if (finished == 0) return 0;
    const auto each = std::max<Instant::duration>(busy / finished, std::chrono::nanoseconds{1});
    return std::min(finished * kGrowth, threads * static_cast<std::size_t>(kAhead / each));
  }

 private:
  struct Window {
    std::size_t finished = 0;
    Instant::duration busy{};
  };
  void turn(Instant now) {
    if (now - began_ < kAhead) return;
    last_ = now - began_ < 2 * kAhead ? current_ : Window{};
    current_ = {};
    began_ = now;
  }
  Instant began_{};
  Window current_;
  Window last_;
};

struct Queue {
  std::deque<RunPtr> waiting;
  std::size_t running = 0;
  std::size_t limit = 1;
  std::size_t low = 0;  // with no more than this waiting and running, more are claimed
  Pace pace;
};

}  // namespace

struct ThreadWorkers::Pool {
  std::shared_ptr<Context> context;
  std::shared_ptr<Outcomes> outcomes;

  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable changed;  // something finished or a thread ended
  // Guarded by mutex
  std::vector<Queue> queues;  // by handler number
  std::size_t turn = 0;
  std::size_t waiting = 0;
  std::size_t running = 0;
  std::size_t idle_threads = 0;
  std::size_t live_threads = 0;
  bool closing = false;

  Queue& queue(HandlerNo no) {
    if (queues.size() <= no) queues.resize(no + std::size_t{1});
    return queues[no];
  }

  RunPtr next() {
    for (std::size_t i = 0; waiting > 0 && i < queues.size(); ++i) {
      Queue& q = queues[(turn + i) % queues.size()];
      if (q.waiting.empty() || q.running >= q.limit) continue;
      turn = (turn + i + 1) % queues.size();
      RunPtr run = std::move(q.waiting.front());
      q.waiting.pop_front();
      --waiting;
      ++running;
      ++q.running;
      return run;
    }
    return nullptr;
  }

  void finished(HandlerNo no, Instant started, Instant now) {
    Queue& q = queues[no];
    --running;
    --q.running;
    q.pace.add(now, now - started);
    if (q.waiting.size() + q.running == q.low) context->claiming.notify();
    if (running + waiting == 0) changed.notify_all();
  }
};

namespace {

// A thread's whole life. Knows only the pool, not the engine, which may be gone when a hung handler returns.
template <class Pool>
void work(const std::shared_ptr<Pool>& pool) {
  pthread_setname_np(pthread_self(), "er-work");
  std::unique_lock lock{pool->mutex};
  while (true) {
    RunPtr run = pool->next();
    if (!run) {
      if (pool->closing) break;
      ++pool->idle_threads;
      pool->work.wait(lock);
      --pool->idle_threads;
      continue;
    }
    lock.unlock();
    const HandlerNo no = run->no;
    const Instant started = mark_started(*run, *pool->context);
    auto settlement = attempt(*run, *pool->context);
    pool->outcomes->put(std::move(run), std::move(settlement));
    const Instant now = pool->context->clock.steady();
    lock.lock();
    pool->finished(no, started, now);
  }
  --pool->live_threads;
  pool->changed.notify_all();
}

}  // namespace

ThreadWorkers::ThreadWorkers(std::shared_ptr<Context> context, std::shared_ptr<Outcomes> outcomes, std::size_t threads)
    : pool_(std::make_shared<Pool>()) {
  pool_->context = std::move(context);
  pool_->outcomes = std::move(outcomes);
  pool_->live_threads = threads;
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([pool = pool_] { work(pool); });
}

ThreadWorkers::~ThreadWorkers() {
  close(std::chrono::steady_clock::now());
}

std::size_t ThreadWorkers::room(HandlerNo handler, std::size_t concurrency, std::size_t coming) {
  const Instant now = pool_->context->clock.steady();
  const std::lock_guard lock{pool_->mutex};
  Queue& q = pool_->queue(handler);
  q.limit = concurrency;
  const std::size_t wanted = std::max(concurrency, q.pace.ahead(now, concurrency));
  // Tasks are claimed ahead in large steps: ten cost the store almost as much as hundreds.
  q.low = std::max(concurrency - 1, wanted / 2);
  const std::size_t have = q.waiting.size() + q.running + coming;
  return have <= q.low ? wanted - have : 0;
}

std::size_t ThreadWorkers::idle(HandlerNo handler, std::size_t concurrency) {
  const std::lock_guard lock{pool_->mutex};
  Queue& q = pool_->queue(handler);
  q.limit = concurrency;
  const std::size_t have = q.waiting.size() + q.running;
  return concurrency - std::min(concurrency, have);
}

void ThreadWorkers::take(std::vector<RunPtr> runs) {
  std::size_t wake = 0;
  {
    const std::lock_guard lock{pool_->mutex};
    for (RunPtr& run : runs) pool_->queue(run->no).waiting.push_back(std::move(run));
    pool_->waiting += runs.size();
    wake = std::min(pool_->idle_threads, runs.size());
  }
  for (; wake > 0; --wake) pool_->work.notify_one();
}

std::size_t ThreadWorkers::busy() const {
  const std::lock_guard lock{pool_->mutex};
  return pool_->waiting + pool_->running;
}

std::size_t ThreadWorkers::waiting() const {
  const std::lock_guard lock{pool_->mutex};
  return pool_->waiting;
}

std::vector<RunPtr> ThreadWorkers::take_waiting(const std::function<bool(const Run&)>& wanted) {
  const std::lock_guard lock{pool_->mutex};
  std::vector<RunPtr> taken;
  for (Queue& q : pool_->queues) {
    const auto first =
        std::stable_partition(q.waiting.begin(), q.waiting.end(), [&](const RunPtr& run) { return !wanted(*run); });
    std::move(first, q.waiting.end(), std::back_inserter(taken));
    q.waiting.erase(first, q.waiting.end());
  }
  pool_->waiting -= taken.size();
  return taken;
}

bool ThreadWorkers::wait_idle(Instant until) {
  std::unique_lock lock{pool_->mutex};
  return pool_->changed.wait_until(lock, until, [&] { return pool_->running + pool_->waiting == 0; });
}

std::size_t ThreadWorkers::close(Instant until) {
  std::size_t left = 0;
  {
    std::unique_lock lock{pool_->mutex};
    pool_->closing = true;
    pool_->work.notify_all();
    pool_->changed.wait_until(lock, until, [&] { return pool_->live_threads == 0; });
    left = pool_->live_threads;
  }
  for (std::thread& thread : threads_) {
    if (!thread.joinable()) continue;
    left == 0 ? thread.join() : thread.detach();
  }
  return left;
}

}  // namespace easyretry::engine
