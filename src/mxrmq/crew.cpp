#include "mxrmq/crew.h"

#include <exception>

#include "mxrmq/next_step.h"

namespace easyretry::mxrmq {
namespace {

constexpr int kPeek = 1;       // s that one waits for a message before it is asked whether to stop
constexpr Millis kPause{500};  // before a server that refused is asked again

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

Crew::Crew(Link& link, Holdings& holdings, Settler& settler, CrewOptions options)
    : link_(link), holdings_(holdings), settler_(settler), options_(std::move(options)) {
  for (int i = 0; i < options_.concurrency; ++i) runners_.emplace_back([this] { run_jobs(); });
  taker_ = std::jthread{[this] { take(); }};
}

Crew::~Crew() {
  stop_taking();
  join();
}

void Crew::stop_taking() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  if (taker_.joinable()) taker_.join();
}

void Crew::join() {
  {
    const std::lock_guard lock{mutex_};
    over_ = true;
  }
  changed_.notify_all();
  runners_.clear();
}

bool Crew::stopping() const {
  const std::lock_guard lock{mutex_};
  return stopping_;
}

// How many can be run at once; 0 when it is time to stop.
std::size_t Crew::wait_for_room() {
  std::unique_lock lock{mutex_};
  const auto room = [this] { return options_.concurrency - busy_ - static_cast<int>(jobs_.size()); };
  changed_.wait(lock, [&] { return stopping_ || room() > 0; });
  return stopping_ ? 0 : static_cast<std::size_t>(room());
}

void Crew::take() {
  const std::string trouble = "messages of " + options_.topic + " cannot be taken";
  Complaints complaints{options_.log};
  while (const std::size_t room = wait_for_room()) {
    try {
      take_some(room);
      complaints.worked(trouble);
    } catch (const ServerError& error) {
      complaints.failed(trouble, error.what());
      std::unique_lock lock{mutex_};
      changed_.wait_for(lock, kPause, [this] { return stopping_; });
    }
  }
}

void Crew::take_some(std::size_t most) {
  const std::string token = options_.worker + "-" + std::to_string(++claims_);
  const auto claimed_at = std::chrono::steady_clock::now();
  Claim claimed = claim(link_, options_.topic, token, options_.lease, most);
  if (claimed.messages.empty() && !stopping()) wait_for_message(link_, options_.topic, kPeek);
  for (Taken& each : claimed.messages) {
    const std::stop_token stop = holdings_.add(each.hold, options_.topic);
    const std::lock_guard lock{mutex_};
    jobs_.push_back({std::move(each), claimed.now, claimed_at, stop});
  }
  changed_.notify_all();
}

void Crew::run_jobs() {
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

void Crew::run(const Job& job) {
  Message message;
  try {
    message = parse_message(job.taken.json);
  } catch (const MessageError& why) {
    const std::string& id = job.taken.hold.id;
    options_.log(LogLevel::warning,
                 "mxrmq: message " + id + " of " + options_.topic + " cannot be read: " + why.what());
    settler_.add({.kind = Outcome::Kind::unreadable,
                  .topic = options_.topic,
                  .hold = job.taken.hold,
                  .json = parse_error_record(id, job.taken.json, options_.topic, why.what(), job.now)});
    return;
  }
  try {
    options_.handler({job.taken.hold.id, options_.topic, message.payload, message.meta.retry_count, job.stop});
    settler_.add({.kind = Outcome::Kind::completed, .topic = options_.topic, .hold = job.taken.hold, .json = {}});
  } catch (...) {
    settle_failure(job, message, error_of(std::current_exception()));
  }
}

// The server's time goes on by our steady clock.
void Crew::settle_failure(const Job& job, const Message& message, const std::string& error) {
  const auto elapsed = std::chrono::floor<Millis>(std::chrono::steady_clock::now() - job.claimed_at);
  Meta meta = message.meta;
  meta.processing_started_at = job.now;
  const NextStep next = after_failure(std::move(meta), error, job.now + elapsed.count());
  settler_.add({.kind = next.retry_after ? Outcome::Kind::retried : Outcome::Kind::dead,
                .topic = options_.topic,
                .hold = job.taken.hold,
                .delay = next.retry_after.value_or(Millis{0}),
                .json = rewritten(job.taken.json, next.meta)});
}

}  // namespace easyretry::mxrmq
