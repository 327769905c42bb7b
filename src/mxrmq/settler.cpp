#include "mxrmq/settler.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace easyretry::mxrmq {
namespace {

constexpr Millis kPause{200};  // before a server that refused is asked again

bool alike(const Outcome& a, const Outcome& b) {
  return a.kind == b.kind && a.topic == b.topic;
}

std::atomic<std::int64_t>& count_of(Tally& tally, Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::completed: return tally.completed;
    case Outcome::Kind::retried: return tally.retried;
    case Outcome::Kind::dead: return tally.dead;
    case Outcome::Kind::unreadable: return tally.unreadable;
  }
  return tally.completed;
}

}  // namespace

std::vector<bool> settle(Link& link, const std::vector<Outcome>& outcomes) {
  const std::string& topic = outcomes.front().topic;
  std::vector<Hold> holds;
  std::vector<Taken> taken;
  std::vector<Retry> retries;
  for (const Outcome& each : outcomes) {
    holds.push_back(each.hold);
    taken.push_back({each.hold, each.json});
    retries.push_back({each.hold, each.delay, each.json});
  }
  switch (outcomes.front().kind) {
    case Outcome::Kind::completed: return complete(link, topic, holds);
    case Outcome::Kind::retried: return retry(link, topic, retries);
    case Outcome::Kind::dead: return bury(link, topic, taken);
    case Outcome::Kind::unreadable: return set_aside(link, topic, taken);
  }
  return {};
}

Settler::Settler(Link& link, Holdings& holdings, Tally& tally, LogSink log)
    : link_(link), holdings_(holdings), tally_(tally), complaints_(std::move(log)), thread_([this] { run(); }) {}

Settler::~Settler() {
  stop();
}

void Settler::add(Outcome outcome) {
  {
    const std::lock_guard lock{mutex_};
    waiting_.push_back(std::move(outcome));
  }
  changed_.notify_all();
}

void Settler::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Settler::run() {
  std::vector<Outcome> mine;
  while (true) {
    bool last = false;
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return stopping_ || !waiting_.empty() || !mine.empty(); });
      std::move(waiting_.begin(), waiting_.end(), std::back_inserter(mine));
      waiting_.clear();
      last = stopping_;
    }
    const bool done = settle_all(mine);
    if (last) return;
    if (!done) std::this_thread::sleep_for(kPause);
  }
}

// False: some are left, because the server could not be told.
bool Settler::settle_all(std::vector<Outcome>& outcomes) {
  std::ranges::stable_sort(outcomes, {}, [](const Outcome& each) { return std::tie(each.topic, each.kind); });
  while (!outcomes.empty()) {
    auto end = outcomes.begin();
    while (end != outcomes.end() && alike(*end, outcomes.front()) &&
           static_cast<std::size_t>(end - outcomes.begin()) < kMessagesACall) {
      ++end;
    }
    const std::vector<Outcome> some{outcomes.begin(), end};
    const std::string trouble = "the ends of messages of " + some.front().topic + " cannot be written";
    try {
      note(some, settle(link_, some));
      complaints_.worked(trouble);
    } catch (const ServerError& error) {
      complaints_.failed(trouble, error.what());
      return false;
    }
    outcomes.erase(outcomes.begin(), end);
  }
  return true;
}

void Settler::note(const std::vector<Outcome>& settled, const std::vector<bool>& answers) {
  for (std::size_t i = 0; i < settled.size(); ++i) {
    ++(i < answers.size() && answers[i] ? count_of(tally_, settled[i].kind) : tally_.fenced);
    holdings_.remove(settled[i].hold);
  }
}

}  // namespace easyretry::mxrmq
