#include "server/lease_queue.h"

#include <algorithm>

namespace easyretry::server {
namespace {

// A worker that has just got tasks asks for more within milliseconds.
constexpr Millis kKeep{1000};

// A handler counts as attended for this long after a request. If all its workers are busy for longer, it is better left
// to other instances that run it, if there are any. When a worker asks again, they know within seconds.
constexpr Millis kAttended{10'000};

// The size of arguments and results in one response. A worker on a slow line has to receive it in time: tasks in a
// response that is given up wait until their lease expires, and count as a crash. A single task may be larger.
constexpr std::size_t kMostQueuedBytes = 8'388'608;

// How many tasks an answer has room for.
class Room {
 public:
  explicit Room(std::size_t most) : left_(most) {}

  bool take(const engine::Run& run) {
    const std::size_t bytes = run.record.payload.size() + run.record.result.size();
    if (left_ == 0 || (bytes_ > 0 && bytes_ + bytes > kMostQueuedBytes)) return false;
    --left_;
    bytes_ += bytes;
    return true;
  }

 private:
  std::size_t left_;
  std::size_t bytes_ = 0;
};

bool wants(const LeaseQueue::Request& request, const std::string& handler) {
  return std::find(request.handlers.begin(), request.handlers.end(), handler) != request.handlers.end();
}

}  // namespace

class LeaseQueue::Handler final : public engine::RemoteExecutor {
 public:
  Handler(std::shared_ptr<LeaseQueue> queue, std::string name) : queue_(std::move(queue)), name_(std::move(name)) {}
  std::size_t room(std::size_t coming) override { return queue_->room(name_, coming); }
  bool attended() override { return queue_->attended(name_); }
  void take(std::vector<engine::RunPtr> runs) override { queue_->take(name_, std::move(runs)); }
  bool may_tell(Outcome outcome) const override { return queue_->may_tell(name_, outcome); }

 private:
  const std::shared_ptr<LeaseQueue> queue_;
  const std::string name_;
};

LeaseQueue::LeaseQueue(const Clock& clock, engine::Wakeup& wanted, HandBack hand_back, Attended attended)
    : clock_(clock), wanted_(wanted), hand_back_(std::move(hand_back)), attended_(std::move(attended)) {}

std::shared_ptr<engine::RemoteExecutor> LeaseQueue::of(const std::string& handler) {
  return std::make_shared<Handler>(shared_from_this(), handler);
}

void LeaseQueue::asked_by(Worker worker, std::span<const std::string> handlers) {
  const std::lock_guard lock{mutex_};
  if (worker == Worker::judges) judged_.insert(handlers.begin(), handlers.end());
  untold_.insert(handlers.begin(), handlers.end());
}

bool LeaseQueue::may_tell(const std::string& handler, Outcome outcome) {
  const std::lock_guard lock{mutex_};
  return !untold_.contains(handler) || (outcome == Outcome::succeeded && judged_.contains(handler));
}

LeaseQueue::Workers LeaseQueue::workers_of(const std::string& handler) {
  const std::lock_guard lock{mutex_};
  const Instant now = clock_.steady();
  Workers workers;
  if (const auto seen = seen_.find(handler); seen != seen_.end()) {
    workers.asked_ago = std::chrono::floor<Millis>(now - seen->second);
  }
  workers.waiting = static_cast<std::size_t>(
      std::ranges::count_if(waiting_, [&](const auto& entry) { return wants(entry.second, handler); }));
  return workers;
}

std::uint64_t LeaseQueue::wait(Request request) {
  std::vector<engine::RunPtr> runs;
  std::uint64_t number = 0;
  bool waits = false;
  bool news = false;
  {
    const std::lock_guard lock{mutex_};
    number = ++last_;
    news = std::ranges::any_of(request.handlers, [&](const std::string& handler) { return !is_attended(handler); });
    saw(request);
    runs = kept_for(request);
    waits = runs.empty() && !closed_;
    if (waits) waiting_.emplace(number, std::move(request));
  }
  if (news) attended_();
  if (waits) {
    wanted_.notify();
    wakeup.notify();
  } else {
    request.lend(std::move(runs));
  }
  return number;
}

bool LeaseQueue::attended(const std::string& handler) {
  const std::lock_guard lock{mutex_};
  return is_attended(handler);
}

bool LeaseQueue::is_attended(const std::string& handler) const {
  const auto seen = seen_.find(handler);
  if (seen != seen_.end() && clock_.steady() < seen->second + kAttended) return true;
  return std::ranges::any_of(waiting_, [&](const auto& entry) { return wants(entry.second, handler); });
}

void LeaseQueue::saw(const Request& request) {
  for (const std::string& handler : request.handlers) seen_[handler] = clock_.steady();
}

bool LeaseQueue::leave(std::uint64_t number) {
  const std::lock_guard lock{mutex_};
  const auto waited = waiting_.find(number);
  if (waited == waiting_.end()) return false;
  saw(waited->second);
  waiting_.erase(waited);
  return true;
}

std::vector<engine::RunPtr> LeaseQueue::kept_for(const Request& request) {
  std::vector<engine::RunPtr> runs;
  Room room{request.most};
  for (const std::string& handler : request.handlers) {
    auto& kept = kept_[handler];
    while (!kept.empty() && room.take(*kept.back().run)) {
      runs.push_back(std::move(kept.back().run));
      kept.pop_back();
    }
  }
  return runs;
}

std::size_t LeaseQueue::room(const std::string& handler, std::size_t coming) {
  const std::lock_guard lock{mutex_};
  std::size_t asked = 0;
  for (const auto& [number, request] : waiting_) asked += wants(request, handler) ? request.most : 0;
  const std::size_t have = kept_[handler].size() + coming;
  return asked - std::min(asked, have);
}

void LeaseQueue::take(const std::string& handler, std::vector<engine::RunPtr> runs) {
  std::vector<std::pair<Lend, std::vector<engine::RunPtr>>> lent;
  {
    const std::lock_guard lock{mutex_};
    auto next = runs.begin();
    for (auto one = waiting_.begin(); one != waiting_.end() && next != runs.end();) {
      if (!wants(one->second, handler)) {
        ++one;
        continue;
      }
      Room room{one->second.most};
      const auto end = std::find_if_not(next, runs.end(), [&](const engine::RunPtr& run) { return room.take(*run); });
      lent.emplace_back(std::move(one->second.lend),
                        std::vector<engine::RunPtr>{std::make_move_iterator(next), std::make_move_iterator(end)});
      next = end;
      saw(one->second);
      one = waiting_.erase(one);
    }
    for (; next != runs.end(); ++next) kept_[handler].push_back({std::move(*next), clock_.steady() + kKeep});
  }
  wakeup.notify();
  for (auto& [lend, theirs] : lent) lend(std::move(theirs));
}

engine::Step LeaseQueue::step() {
  std::vector<Lend> expired;
  std::vector<engine::RunPtr> unfetched;
  Instant next = Instant::max();
  {
    const std::lock_guard lock{mutex_};
    const Instant now = clock_.steady();
    std::erase_if(waiting_, [&](auto& entry) {
      if (!closed_ && entry.second.until > now) {
        next = std::min(next, entry.second.until);
        return false;
      }
      saw(entry.second);
      expired.push_back(std::move(entry.second.lend));
      return true;
    });
    for (auto& [handler, kept] : kept_) {
      std::erase_if(kept, [&](Kept& one) {
        if (!closed_ && one.until > now) {
          next = std::min(next, one.until);
          return false;
        }
        unfetched.push_back(std::move(one.run));
        return true;
      });
    }
  }
  for (const Lend& lend : expired) lend({});
  if (!unfetched.empty()) hand_back_(std::move(unfetched));
  return {!expired.empty(), next};
}

void LeaseQueue::close() {
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  step();
}

// Under mutex_. Ids ascend with time: if there are too many, the worker of the lowest one has probably died.
Leases::Lease& Leases::of(const task::Ticket& ticket, const std::string& handler) {
  if (leases_.size() >= most_ && !leases_.contains(ticket)) leases_.erase(leases_.begin());
  return leases_.try_emplace(ticket, Lease{handler}).first->second;
}

void Leases::begin(const task::Ticket& ticket, const std::string& handler, Instant at, Instant until) {
  const std::lock_guard lock{mutex_};
  Lease& lease = of(ticket, handler);
  lease.since = at;
  lease.until = until;
}

void Leases::renew(const task::Ticket& ticket, const std::string& handler, Instant until) {
  const std::lock_guard lock{mutex_};
  of(ticket, handler).until = until;
}

std::optional<Instant> Leases::end(const task::Ticket& ticket) {
  const std::lock_guard lock{mutex_};
  const auto ended = leases_.extract(ticket);
  return ended ? ended.mapped().since : std::nullopt;
}

std::set<std::string, std::less<>> Leases::handlers(Instant now) const {
  const std::lock_guard lock{mutex_};
  std::set<std::string, std::less<>> busy;
  for (const auto& [ticket, lease] : leases_) {
    if (now < lease.until) busy.insert(lease.handler);
  }
  return busy;
}

}  // namespace easyretry::server
