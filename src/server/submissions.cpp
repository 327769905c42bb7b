#include "server/submissions.h"

#include <pthread.h>

namespace easyretry::server {

Submissions::Submissions(engine::Core& core, std::size_t most_waiting)
    : core_(core), most_waiting_(most_waiting), thread_([this] { work(); }) {}

Submissions::~Submissions() {
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool Submissions::put(std::vector<task::NewTask> tasks, Done done) {
  {
    const std::lock_guard lock{mutex_};
    if (tasks_waiting_ > 0 && tasks_waiting_ + tasks.size() > most_waiting_) return false;
    tasks_waiting_ += tasks.size();
    waiting_.push_back({std::move(tasks), std::move(done)});
  }
  changed_.notify_one();
  return true;
}

void Submissions::work() {
  pthread_setname_np(pthread_self(), "er-submit");
  while (true) {
    auto batch = next_batch();  // destroyed before the next wait: it holds connections
    if (batch.empty()) return;
    store(batch);
  }
}

// At least one request, and no more tasks than the batch size unless a single request has more. Empty: stop.
std::vector<Submissions::Request> Submissions::next_batch() {
  const std::size_t most = core_.live_options().batch;
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
  std::size_t requests = 0;
  std::size_t tasks = 0;
  while (requests < waiting_.size() && (requests == 0 || tasks + waiting_[requests].tasks.size() <= most)) {
    tasks += waiting_[requests++].tasks.size();
  }
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(requests);
  std::vector<Request> batch{std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end)};
  waiting_.erase(waiting_.begin(), end);
  tasks_waiting_ -= tasks;
  return batch;
}

void Submissions::store(std::vector<Request>& batch) {
  if (batch.size() == 1) return store_each(batch);
  std::vector<task::NewTask> all;
  for (const Request& request : batch) all.insert(all.end(), request.tasks.begin(), request.tasks.end());
  const auto stored = core_.submit(all);
  if (!stored) {
    // A refused task must not fail the other requests, so each is stored separately. Nothing was stored yet.
    const Errc code = stored.error().code;
    if (code == Errc::invalid_argument || code == Errc::already_exists) return store_each(batch);
    for (const Request& request : batch) request.done(tl::make_unexpected(stored.error()));
    return;
  }
  auto next = stored->begin();
  for (const Request& request : batch) {
    const auto end = next + static_cast<std::ptrdiff_t>(request.tasks.size());
    request.done(std::vector<storage::Inserted>{next, end});
    next = end;
  }
}

void Submissions::store_each(std::vector<Request>& batch) {
  for (const Request& request : batch) request.done(core_.submit(request.tasks));
}

}  // namespace easyretry::server
