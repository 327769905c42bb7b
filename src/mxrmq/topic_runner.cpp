#include "mxrmq/topic_runner.h"

#include <exception>

#include "mxrmq/next_step.h"

namespace easyretry::mxrmq {
namespace {

constexpr int kPeek = 1;       // s to wait for a message between two checks for a stop
constexpr Millis kPause{500};  // before the next attempt after an error

std::string error_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

}  // namespace

TopicRunner::TopicRunner(QueueConnection& link, HeldMessages& held, Settler& settler, TopicRunnerOptions options)
    : link_(link), held_messages_(held), settler_(settler), options_(std::move(options)) {
  for (int i = 0; i < options_.concurrency; ++i) runners_.emplace_back([this] { run_jobs(); });
  taker_ = std::jthread{[this] { take(); }};
}

TopicRunner::~TopicRunner() {
  stop_taking();
  join();
}

void TopicRunner::stop_taking() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  if (taker_.joinable()) taker_.join();
}

void TopicRunner::join() {
  {
    const std::lock_guard lock{mutex_};
    over_ = true;
  }
  changed_.notify_all();
  runners_.clear();
}

bool TopicRunner::stopping() const {
  const std::lock_guard lock{mutex_};
  return stopping_;
}

// How many more can run now; 0 when stopping.
std::size_t TopicRunner::wait_for_room() {
  std::unique_lock lock{mutex_};
  const auto room = [this] { return options_.concurrency - busy_ - static_cast<int>(jobs_.size()); };
  changed_.wait(lock, [&] { return stopping_ || room() > 0; });
  return stopping_ ? 0 : static_cast<std::size_t>(room());
}

void TopicRunner::take() {
  const std::string trouble = "messages of " + options_.topic + " cannot be taken";
  TroubleLog trouble_log{options_.log};
  while (const std::size_t room = wait_for_room()) {
    try {
      take_some(room);
      trouble_log.worked(trouble);
    } catch (const ServerError& error) {
      trouble_log.failed(trouble, error.what());
      std::unique_lock lock{mutex_};
      changed_.wait_for(lock, kPause, [this] { return stopping_; });
    }
  }
}

void TopicRunner::take_some(std::size_t most) {
  const std::string token = options_.worker + "-" + std::to_string(++claims_);
  const auto claimed_at = std::chrono::steady_clock::now();
  Claim claimed = claim(link_, options_.topic, token, options_.lease, most);
  if (claimed.messages.empty() && !stopping()) wait_for_message(link_, options_.topic, kPeek);
  for (LeasedMessage& each : claimed.messages) {
    const std::stop_token stop = held_messages_.add(each.lease, options_.topic);
    const std::lock_guard lock{mutex_};
    jobs_.push_back({std::move(each), claimed.now, claimed_at, stop});
  }
  changed_.notify_all();
}

void TopicRunner::run_jobs() {
  while (true) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return over_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++busy_;
    lock.unlock();
    run(job);
    lock.lock();
    --busy_;
    lock.unlock();
    changed_.notify_all();
  }
}

void TopicRunner::run(const Job& job) {
  Message message;
  try {
    message = parse_message(job.taken.json);
  } catch (const MessageError& why) {
    const std::string& id = job.taken.lease.id;
    options_.log(LogLevel::warning,
                 "mxrmq: message " + id + " of " + options_.topic + " cannot be read: " + why.what());
    settler_.add({.kind = Outcome::Kind::unreadable,
                  .topic = options_.topic,
                  .lease = job.taken.lease,
                  .json = parse_error_record(id, job.taken.json, options_.topic, why.what(), job.now)});
    return;
  }
  const Answer answer = answer_to(job, message);
  if (answer.kind == Answer::Kind::done) {
    settler_.add({.kind = Outcome::Kind::completed, .topic = options_.topic, .lease = job.taken.lease, .json = {}});
  } else {
    settle_failure(job, message, answer);
  }
}

Answer TopicRunner::answer_to(const Job& job, const Message& message) const {
  try {
    return options_.handler({job.taken.lease.id, options_.topic, message.payload, message.meta.retry_count, job.stop});
  } catch (...) {
    return retry_later(error_of(std::current_exception()));
  }
}

// The current time is the server's time at the claim plus the time elapsed on our steady clock.
void TopicRunner::settle_failure(const Job& job, const Message& message, const Answer& answer) {
  const auto elapsed = std::chrono::floor<Millis>(std::chrono::steady_clock::now() - job.claimed_at);
  Meta meta = message.meta;
  meta.processing_started_at = job.now;
  const NextStep next = after_failure(std::move(meta), answer, job.now + elapsed.count());
  settler_.add({.kind = next.retry_after ? Outcome::Kind::retried : Outcome::Kind::dead,
                .topic = options_.topic,
                .lease = job.taken.lease,
                .delay = next.retry_after.value_or(Millis{0}),
                .json = rewritten(job.taken.json, next.meta)});
}

}  // namespace easyretry::mxrmq
