#include "mxrmq/settler.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "mxrmq/next_step.h"

namespace easyretry::mxrmq {
namespace {

bool alike(const Outcome& a, const Outcome& b) {
  return a.kind == b.kind && a.topic == b.topic;
}

std::atomic<std::int64_t>& count_of(WorkerCounters& counters, Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::completed: return counters.completed;
    case Outcome::Kind::retried: return counters.retried;
    case Outcome::Kind::dead: return counters.dead;
    case Outcome::Kind::unreadable: return counters.unreadable;
  }
  return counters.completed;
}

// Few, because the script searches the lists of the topic for each, and these may be long.
constexpr std::size_t kAtOnce = 20;

}  // namespace

std::vector<bool> settle(QueueConnection& link, const std::vector<Outcome>& outcomes) {
  const std::string& topic = outcomes.front().topic;
  std::vector<Lease> leases;
  std::vector<LeasedMessage> taken;
  std::vector<Retry> retries;
  for (const Outcome& each : outcomes) {
    leases.push_back(each.lease);
    taken.push_back({each.lease, each.json});
    retries.push_back({each.lease, each.delay, each.json});
  }
  switch (outcomes.front().kind) {
    case Outcome::Kind::completed: return complete(link, topic, leases);
    case Outcome::Kind::retried: return retry(link, topic, retries);
    case Outcome::Kind::dead: return bury(link, topic, taken);
    case Outcome::Kind::unreadable: return set_aside(link, topic, taken);
  }
  return {};
}

Settler::Settler(QueueConnection& link, HeldMessages& held, WorkerCounters& counters, LogSink log, Millis pause)
    : link_(link),
      held_messages_(held),
      counters_(counters),
      trouble_log_(std::move(log)),
      pause_(pause),
      thread_([this] { run(); }) {}

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
  std::vector<Outcome> unsettled;
  while (true) {
    bool last = false;
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return stopping_ || !waiting_.empty() || !unsettled.empty(); });
      std::move(waiting_.begin(), waiting_.end(), std::back_inserter(unsettled));
      waiting_.clear();
      last = stopping_;
    }
    const bool done = settle_all(unsettled);
    if (last) return;
    if (!done) pause();
  }
}

void Settler::pause() {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, pause_, [this] { return stopping_; });
}

// Returns false if some are left because the server failed.
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
      trouble_log_.worked(trouble);
    } catch (const ServerError& error) {
      trouble_log_.failed(trouble, error.what());
      return false;
    }
    outcomes.erase(outcomes.begin(), end);
  }
  return true;
}

void Settler::note(const std::vector<Outcome>& settled, const std::vector<bool>& answers) {
  for (std::size_t i = 0; i < settled.size(); ++i) {
    ++(i < answers.size() && answers[i] ? count_of(counters_, settled[i].kind) : counters_.fenced);
    held_messages_.remove(settled[i].lease);
  }
}

Reaper::Round Reaper::reap() {
  const std::string token = options_.worker + "-reaper-" + std::to_string(++rounds_);
  const ReapedBatch found = mxrmq::reap(link_, token, options_.lease, kAtOnce);
  Round round{.more = found.messages.size() == kAtOnce};
  for (const Reaped& each : found.messages) {
    if (settle(link_, {second_step(each, found.now)}).front()) ++round.settled;
  }
  return round;
}

Outcome Reaper::second_step(const Reaped& reaped, std::int64_t now) const {
  const auto& [lease, json] = reaped.taken;
  const std::string& topic = reaped.topic;
  try {
    const Message message = parse_message(json);
    const NextStep next =
        reaped.old ? after_ageing(message.meta, now) : after_loss(message.meta, reaped.lost, options_.max_lost, now);
    return {.kind = next.retry_after ? Outcome::Kind::retried : Outcome::Kind::dead,
            .topic = topic,
            .lease = lease,
            .delay = next.retry_after.value_or(Millis{0}),
            .json = rewritten(json, next.meta)};
  } catch (const MessageError& why) {
    return {.kind = Outcome::Kind::unreadable,
            .topic = topic,
            .lease = lease,
            .json = parse_error_record(lease.id, json, topic, why.what(), now)};
  }
}

}  // namespace easyretry::mxrmq
