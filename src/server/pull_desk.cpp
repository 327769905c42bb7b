#include "server/pull_desk.h"

#include <algorithm>

namespace easyretry::server {
namespace {

// A worker that has just taken some asks for more within milliseconds.
constexpr Millis kKeep{1000};

// A handler is attended for this long after somebody has asked for it. One whose workers are all busy for longer is
// better left to other members that run it, if there are any; when a worker asks again, the others know within
// seconds.
constexpr Millis kAttended{10'000};

// Arguments and results in one response. A worker on a slow line has to receive it in time: tasks in a response that
// is given up wait until their lease expires, and count as a crash. A single task may be larger.
constexpr std::size_t kMostBytes = 8'388'608;

// How many tasks an answer has room for.
class Room {
 public:
  explicit Room(std::size_t most) : left_(most) {}

  bool take(const engine::Run& run) {
    const std::size_t bytes = run.record.payload.size() + run.record.result.size();
    if (left_ == 0 || (bytes_ > 0 && bytes_ + bytes > kMostBytes)) return false;
    --left_;
    bytes_ += bytes;
    return true;
  }

 private:
  std::size_t left_;
  std::size_t bytes_ = 0;
};

bool wants(const PullDesk::Ask& ask, const std::string& handler) {
  return std::find(ask.handlers.begin(), ask.handlers.end(), handler) != ask.handlers.end();
}

}  // namespace

class PullDesk::Handler final : public engine::Elsewhere {
 public:
  Handler(std::shared_ptr<PullDesk> desk, std::string name) : desk_(std::move(desk)), name_(std::move(name)) {}
  std::size_t room(std::size_t coming) override { return desk_->room(name_, coming); }
  bool attended() override { return desk_->attended(name_); }
  void take(std::vector<engine::RunPtr> runs) override { desk_->take(name_, std::move(runs)); }
  bool may_tell_of_failures() const override { return desk_->may_tell(name_); }

 private:
  const std::shared_ptr<PullDesk> desk_;
  const std::string name_;
};

PullDesk::PullDesk(const Clock& clock, engine::Bell& wanted, HandBack hand_back, Attended attended)
    : clock_(clock), wanted_(wanted), hand_back_(std::move(hand_back)), attended_(std::move(attended)) {}

std::shared_ptr<engine::Elsewhere> PullDesk::of(const std::string& handler) {
  return std::make_shared<Handler>(shared_from_this(), handler);
}

void PullDesk::no_telling(std::span<const std::string> handlers) {
  const std::lock_guard lock{mutex_};
  untold_.insert(handlers.begin(), handlers.end());
}

bool PullDesk::may_tell(const std::string& handler) {
  const std::lock_guard lock{mutex_};
  return !untold_.contains(handler);
}

std::uint64_t PullDesk::wait(Ask ask) {
  std::vector<engine::RunPtr> runs;
  std::uint64_t number = 0;
  bool waits = false;
  bool news = false;
  {
    const std::lock_guard lock{mutex_};
    number = ++last_;
    news = std::ranges::any_of(ask.handlers, [&](const std::string& handler) { return !is_attended(handler); });
    saw(ask);
    runs = kept_for(ask);
    waits = runs.empty() && !closed_;
    if (waits) waiting_.emplace(number, std::move(ask));
  }
  if (news) attended_();
  if (waits) {
    wanted_.ring();
    bell.ring();
  } else {
    ask.lend(std::move(runs));
  }
  return number;
}

bool PullDesk::attended(const std::string& handler) {
  const std::lock_guard lock{mutex_};
  return is_attended(handler);
}

bool PullDesk::is_attended(const std::string& handler) const {
  const auto seen = seen_.find(handler);
  if (seen != seen_.end() && clock_.steady() < seen->second + kAttended) return true;
  return std::ranges::any_of(waiting_, [&](const auto& entry) { return wants(entry.second, handler); });
}

void PullDesk::saw(const Ask& ask) {
  for (const std::string& handler : ask.handlers) seen_[handler] = clock_.steady();
}

bool PullDesk::leave(std::uint64_t number) {
  const std::lock_guard lock{mutex_};
  const auto waited = waiting_.find(number);
  if (waited == waiting_.end()) return false;
  saw(waited->second);
  waiting_.erase(waited);
  return true;
}

std::vector<engine::RunPtr> PullDesk::kept_for(const Ask& ask) {
  std::vector<engine::RunPtr> runs;
  Room room{ask.most};
  for (const std::string& handler : ask.handlers) {
    auto& kept = kept_[handler];
    while (!kept.empty() && room.take(*kept.back().run)) {
      runs.push_back(std::move(kept.back().run));
      kept.pop_back();
    }
  }
  return runs;
}

std::size_t PullDesk::room(const std::string& handler, std::size_t coming) {
  const std::lock_guard lock{mutex_};
  std::size_t asked = 0;
  for (const auto& [number, ask] : waiting_) asked += wants(ask, handler) ? ask.most : 0;
  const std::size_t have = kept_[handler].size() + coming;
  return asked - std::min(asked, have);
}

void PullDesk::take(const std::string& handler, std::vector<engine::RunPtr> runs) {
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
  bell.ring();
  for (auto& [lend, theirs] : lent) lend(std::move(theirs));
}

engine::Step PullDesk::step() {
  std::vector<Lend> let_go;
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
      let_go.push_back(std::move(entry.second.lend));
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
  for (const Lend& lend : let_go) lend({});
  if (!unfetched.empty()) hand_back_(std::move(unfetched));
  return {!let_go.empty(), next};
}

void PullDesk::close() {
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  step();
}

}  // namespace easyretry::server
