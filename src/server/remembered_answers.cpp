#include "server/remembered_answers.h"

#include <utility>

namespace easyretry::server {
namespace {

// The same request may succeed later.
bool is_temporary(const RememberedAnswers::Answer& answer) {
  return !answer && answer.error().code == Errc::unavailable;
}

}  // namespace

RememberedAnswers::RememberedAnswers(const Clock& clock, Limits limits)
    : clock_(clock), limits_(limits), complete_since_(clock.steady()) {}

RememberedAnswers::Seen RememberedAnswers::ask(const Name& name, std::string_view body, Done done) {
  const std::size_t hash = std::hash<std::string_view>{}(body);
  Answer answer;
  {
    const std::lock_guard lock{mutex_};
    const auto [found, fresh] = entries_.try_emplace(name, Entry{hash});
    Entry& entry = found->second;
    if (!fresh && entry.body != hash) return Seen::different;
    if (!entry.answer) {
      entry.waiting.push_back(std::move(done));
      return fresh ? Seen::never : Seen::before;
    }
    answer = *entry.answer;
  }
  done(std::move(answer));
  return Seen::before;
}

void RememberedAnswers::answered(const Name& name, const Answer& answer) {
  std::vector<Done> waiting;
  {
    const std::lock_guard lock{mutex_};
    const auto found = entries_.find(name);
    waiting = std::exchange(found->second.waiting, {});
    if (is_temporary(answer)) {
      entries_.erase(found);
    } else {
      found->second.answer = answer;
      found->second.answered_at = clock_.steady();
      tasks_ += found->second.tasks();
      answered_.push_back(found);
      trim(found->second.answered_at);
    }
  }
  for (const Done& done : waiting) done(answer);
}

void RememberedAnswers::forget(const Name& name) {
  std::vector<Done> waiting;
  {
    const std::lock_guard lock{mutex_};
    waiting = std::move(entries_.extract(name).mapped().waiting);
  }
  for (std::size_t i = 1; i < waiting.size(); ++i) {
    waiting[i](fail(Errc::unavailable, "submit", "the first of these requests was refused"));
  }
}

Millis RememberedAnswers::reach() const {
  const std::lock_guard lock{mutex_};
  return std::chrono::floor<Millis>(clock_.steady() - complete_since_);
}

void RememberedAnswers::trim(Instant now) {
  const auto too_much = [&] {
    return answered_.size() > limits_.names || tasks_ > limits_.tasks ||
           answered_.front()->second.answered_at < now - limits_.age;
  };
  while (!answered_.empty() && too_much()) {
    const auto oldest = answered_.front();
    complete_since_ = oldest->second.answered_at;
    tasks_ -= oldest->second.tasks();
    entries_.erase(oldest);
    answered_.pop_front();
  }
}

}  // namespace easyretry::server
