#include "server/bulk.h"

#include <algorithm>

#include <pthread.h>

#include "server/refusal.h"

namespace easyretry::server {
namespace {

bool is_temporary(const Error& error) {
  return error.code == Errc::unavailable || error.code == Errc::in_doubt;
}

std::string more_than(std::int64_t most) {
  return "more than " + std::to_string(most) +
         " tasks match, and \"most\" allows no more; request it again for the rest";
}

bool has_ended(Bulk::State state) {
  return state != Bulk::State::waiting && state != Bulk::State::running;
}

}  // namespace

std::string name_of(Bulk::State state) {
  switch (state) {
    case Bulk::State::waiting: return "waiting";
    case Bulk::State::running: return "running";
    case Bulk::State::done: return "done";
    case Bulk::State::stopped: return "stopped";
    case Bulk::State::failed: return "failed";
  }
  return "unknown";
}

Bulk::Bulk(const Clock& clock, List list, Limits limits) : clock_(clock), list_(std::move(list)), limits_(limits) {}

Bulk::~Bulk() {
  close();
}

Bulk::Job Bulk::begin(Order order) {
  const std::lock_guard lock{mutex_};
  const auto waiting =
      std::count_if(works_.begin(), works_.end(), [](const WorkPtr& work) { return !has_ended(work->job.state); });
  if (closed_ || static_cast<std::size_t>(waiting) >= limits_.waiting) {
    throw Refusal{{503,
                   "busy",
                   closed_ ? "this instance is stopping" : std::to_string(waiting) + " jobs are already waiting",
                   "try again when they are done: GET /v1/bulk",
                   {{"Retry-After", "5"}}}};
  }
  const auto work = std::make_shared<Work>();
  work->job.id = std::to_string(clock_.now().time_since_epoch().count()) + "-" + std::to_string(++last_);
  work->job.action = std::move(order.action);
  work->job.matched = order.matched;
  work->job.complete = order.complete;
  work->most = order.complete ? order.matched : order.most;
  work->job.per_second = order.per_second;
  work->job.filter = std::move(order.filter);
  work->job.by = std::move(order.by);
  work->job.asked_at = clock_.now();
  work->query = std::move(order.query);
  work->change = std::move(order.change);
  works_.push_back(work);
  drop_oldest();
  if (!thread_.joinable()) thread_ = std::thread{[this] { run(); }};
  changed_.notify_all();
  return work->job;
}

std::optional<Bulk::Job> Bulk::find(const std::string& id) const {
  const std::lock_guard lock{mutex_};
  const WorkPtr work = find_work(id);
  return work ? std::optional{work->job} : std::nullopt;
}

std::vector<Bulk::Job> Bulk::all() const {
  const std::lock_guard lock{mutex_};
  std::vector<Job> all;
  for (const WorkPtr& work : works_) all.push_back(work->job);
  return all;
}

std::optional<Bulk::Job> Bulk::stop(const std::string& id) {
  const std::lock_guard lock{mutex_};
  const WorkPtr work = find_work(id);
  if (!work) return std::nullopt;
  work->stopping = true;
  changed_.notify_all();
  return work->job;
}

void Bulk::close() {
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    for (const WorkPtr& work : works_) work->stopping = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Bulk::run() {
  pthread_setname_np(pthread_self(), "er-bulk");
  while (const WorkPtr work = next()) run_job(*work);
}

Bulk::WorkPtr Bulk::next() {
  std::unique_lock lock{mutex_};
  WorkPtr found;
  changed_.wait(lock, [&] {
    const auto waiting = std::find_if(works_.begin(), works_.end(),
                                      [](const WorkPtr& work) { return work->job.state == State::waiting; });
    if (waiting != works_.end()) found = *waiting;
    return found || closed_;
  });
  if (found) found->job.state = State::running;
  return found;
}

void Bulk::run_job(Work& work) {
  while (run_page(work)) {
  }
}

// With a rate, the job takes ten small pages a second instead of a large one now and then.
std::size_t Bulk::page_of(const Work& work) const {
  constexpr std::int64_t kPagesPerSecond = 10;
  if (work.job.per_second == 0) return limits_.page;
  return std::min(limits_.page,
                  static_cast<std::size_t>(std::max<std::int64_t>(1, work.job.per_second / kPagesPerSecond)));
}

bool Bulk::run_page(Work& work) {
  if (wait_unless_stopped(work, work.next_page - clock_.steady())) return end(work, State::stopped), false;
  const auto left = static_cast<std::size_t>(work.most - work.job.changed - work.job.skipped);
  if (left == 0 && work.job.complete) return end(work, State::done), false;
  work.query.limit = std::clamp<std::size_t>(left, 1, page_of(work));
  const auto page = patiently<Page>(work, [&] { return list_(work.query); });
  if (!page) return end(work, State::failed, to_string(page.error())), false;
  const std::vector<TaskId>& ids = page->ids;
  if (left == 0 && !ids.empty()) return end(work, State::failed, more_than(work.most)), false;
  const auto changed =
      patiently<std::vector<bool>>(work, [&] { return ids.empty() ? Result<std::vector<bool>>{} : work.change(ids); });
  if (!changed) return end(work, State::failed, to_string(changed.error())), false;
  count(work, *changed);
  if (!page->next) return end(work, State::done), false;
  work.query.after = *page->next;
  // If a page took longer than its share, the next ones do not catch up: the rate is a bound.
  if (work.job.per_second > 0) {
    work.next_page = std::max(work.next_page, clock_.steady()) +
                     std::chrono::nanoseconds{std::chrono::seconds{ids.size()}} / work.job.per_second;
  }
  return true;
}

template <class Answer>
Result<Answer> Bulk::patiently(const Work& work, const std::function<Result<Answer>()>& ask) {
  const Instant until = clock_.steady() + limits_.patience;
  while (true) {
    auto answer = ask();
    if (answer || !is_temporary(answer.error()) || clock_.steady() >= until) return answer;
    if (wait_unless_stopped(work, limits_.pause)) return answer;
  }
}

// True: the job has to stop.
bool Bulk::wait_unless_stopped(const Work& work, std::chrono::nanoseconds time) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, time, [&] { return work.stopping; });
}

void Bulk::count(Work& work, const std::vector<bool>& changed) {
  const auto yes = std::count(changed.begin(), changed.end(), true);
  const std::lock_guard lock{mutex_};
  work.job.changed += yes;
  work.job.skipped += static_cast<std::int64_t>(changed.size()) - yes;
  work.job.matched = std::max(work.job.matched, work.job.changed + work.job.skipped);
}

void Bulk::end(Work& work, State state, std::string error) {
  const std::lock_guard lock{mutex_};
  work.job.state = work.stopping && state == State::failed ? State::stopped : state;
  work.job.error = std::move(error);
  work.job.ended_at = clock_.now();
  work.change = nullptr;
}

Bulk::WorkPtr Bulk::find_work(const std::string& id) const {
  const auto found =
      std::find_if(works_.begin(), works_.end(), [&](const WorkPtr& work) { return work->job.id == id; });
  return found == works_.end() ? nullptr : *found;
}

void Bulk::drop_oldest() {
  while (works_.size() > limits_.kept && has_ended(works_.front()->job.state)) works_.pop_front();
}

}  // namespace easyretry::server
