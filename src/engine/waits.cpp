#include "engine/waits.h"

#include <algorithm>
#include <string>

namespace easyretry::engine {
namespace {

constexpr Millis kFirstPause{50};
constexpr Millis kLongestPause{1000};
// The pause between two questions to the store. Looks that become due meanwhile share the next question.
constexpr Millis kBetweenQuestions{10};
constexpr std::size_t kMostAQuestion = 1000;

task::TaskRecord record_of(TaskInfo info) {
  task::TaskRecord record;
  record.info = std::move(info);
  return record;
}

}  // namespace

Result<Waits::Place> Waits::add(TaskId id, Instant until, Done done) {
  Place place{id, 0};
  {
    const std::lock_guard lock{mutex_};
    if (!closed_) {
      if (waits_.size() >= kMost) {
        return fail(Errc::unavailable, "engine.wait",
                    std::to_string(kMost) + " calls wait for tasks already; try again later");
      }
      place.second = ++last_;
      waits_.emplace(place, Wait{.until = until, .done = std::move(done), .pause = kFirstPause});
      waiting_ = waits_.size();
    }
  }
  if (place.second == 0) {
    done(Answer{WaitEnd::stopped});
    return place;
  }
  begin_();
  wakeup.notify();
  return place;
}

bool Waits::leave(const Place& place) {
  std::map<Place, Wait>::node_type left;  // destroyed without the lock
  const std::lock_guard lock{mutex_};
  left = waits_.extract(place);
  waiting_ = waits_.size();
  return !left.empty();
}

void Waits::ended_here(const TaskInfo& task) {
  bool awaited = false;
  {
    const std::lock_guard lock{mutex_};
    for (auto one = waits_.lower_bound({task.id, 0}); one != waits_.end() && one->first.first == task.id; ++one) {
      one->second.ended = task;
      one->second.look = Instant::min();
      one->second.again = true;
      awaited = true;
    }
  }
  if (awaited) wakeup.notify();
}

void Waits::look_now() {
  const std::lock_guard lock{mutex_};
  asked_ = Instant::min();
  for (auto& [place, wait] : waits_) wait.look = Instant::min();
}

Step Waits::step() {
  std::set<TaskId> due;
  {
    const std::lock_guard lock{mutex_};
    const Instant now = clock_.steady();
    if (next_look() > now) return {false, next_look()};
    due = take_due(now);
    asked_ = now;
  }
  const std::vector<TaskId> ids{due.begin(), due.end()};
  Answered answered = judge(due, find_(ids));
  for (auto& [done, answer] : answered) done(std::move(answer));
  const std::lock_guard lock{mutex_};
  return {true, next_look()};
}

// The last look is at the end of the wait.
Instant Waits::next_look() const {
  Instant next = Instant::max();
  for (const auto& [place, wait] : waits_) next = std::min({next, wait.look, wait.until});
  if (asked_ == Instant::min() || next == Instant::max()) return next;
  return std::max(next, asked_ + kBetweenQuestions);
}

std::set<TaskId> Waits::take_due(Instant now) {
  std::set<TaskId> due;
  for (const auto& [place, wait] : waits_) {
    if (due.size() == kMostAQuestion) break;
    if (std::min(wait.look, wait.until) <= now) due.insert(place.first);
  }
  for (auto& [place, wait] : waits_) {
    if (due.contains(place.first)) wait.again = false;
  }
  return due;
}

Waits::Answered Waits::judge(const std::set<TaskId>& asked, Result<std::vector<task::TaskRecord>> found) {
  std::map<TaskId, const task::TaskRecord*> records;
  if (found) {
    for (const task::TaskRecord& record : *found) records.emplace(record.info.id, &record);
  }
  Answered answered;
  const std::lock_guard lock{mutex_};
  const Instant now = clock_.steady();
  for (auto entry = waits_.begin(); entry != waits_.end();) {
    auto& [place, wait] = *entry;
    if (!asked.contains(place.first)) {
      ++entry;
      continue;
    }
    wait.error = found ? std::nullopt : std::optional{found.error()};
    const auto record = records.find(place.first);
    auto answer = answer_of(wait, record == records.end() ? nullptr : record->second, now);
    if (answer) {
      answered.emplace_back(std::move(wait.done), *std::move(answer));
      entry = waits_.erase(entry);
      continue;
    }
    if (!wait.again) {
      wait.look = now + wait.pause;
      wait.pause = std::min(2 * wait.pause, kLongestPause);
    }
    ++entry;
  }
  waiting_ = waits_.size();
  return answered;
}

// Nullopt: it goes on waiting.
std::optional<Result<Waits::Answer>> Waits::answer_of(Wait& wait, const task::TaskRecord* record, Instant now) {
  if (wait.error) {
    if (now < wait.until) return std::nullopt;
    return tl::make_unexpected(*wait.error);
  }
  if (record == nullptr) {
    if (wait.ended) return Answer{WaitEnd::ended, record_of(*std::move(wait.ended))};
    if (wait.seen) return Answer{WaitEnd::gone, std::move(wait.seen)};
    return Answer{WaitEnd::unknown};
  }
  if (record->info.state == TaskState::finished) return Answer{WaitEnd::ended, *record};
  wait.seen = *record;
  if (now < wait.until) return std::nullopt;
  return Answer{WaitEnd::timeout, std::move(wait.seen)};
}

void Waits::close() {
  std::map<Place, Wait> waits;
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    waits.swap(waits_);
    waiting_ = 0;
  }
  for (auto& [place, wait] : waits) wait.done(Answer{WaitEnd::stopped, std::move(wait.seen)});
}

}  // namespace easyretry::engine
