#include "mxrmq/next_step.h"

#include <algorithm>
#include <chrono>

#include "policy/limits.h"

namespace easyretry::mxrmq {
namespace {

constexpr std::int64_t kDefaultDelay = 60;        // s, Python's default if a message has no delays
constexpr std::int64_t kTimeToLive = 86'400'000;  // ms, Python's default

Millis wait_of(const Meta& meta) {
  if (meta.retry_delays.empty()) return std::chrono::seconds{kDefaultDelay};
  const auto retry = static_cast<std::size_t>(std::max<std::int64_t>(meta.retry_count, 1));
  const std::int64_t seconds = meta.retry_delays[std::min(retry, meta.retry_delays.size()) - 1];
  constexpr std::int64_t kLongest = std::chrono::floor<std::chrono::seconds>(policy::kLongestDelay).count();
  return std::chrono::seconds{std::clamp<std::int64_t>(seconds, 0, kLongest)};
}

NextStep retry(Meta meta, Millis wait, std::int64_t now) {
  meta.expire_at = now + wait.count() + kTimeToLive;
  meta.updated_at = now;
  return {wait, std::move(meta)};
}

NextStep dead(Meta meta, std::string_view error, std::int64_t now) {
  meta.status = Status::dead_letter;
  meta.last_error = first_characters(error, kErrorCharacters);
  meta.dead_letter_at = now;
  meta.updated_at = now;
  return {std::nullopt, std::move(meta)};
}

}  // namespace

NextStep after_failure(Meta meta, const Answer& answer, std::int64_t now) {
  meta.status = Status::retrying;
  ++meta.retry_count;
  meta.last_error = first_characters(answer.why, kErrorCharacters);
  meta.last_retry_at = now;
  if (answer.kind == Answer::Kind::give_up || meta.retry_count >= meta.max_retries) {
    return dead(std::move(meta), answer.why, now);
  }
  const Millis wait = answer.kind == Answer::Kind::retry_after
                          ? std::clamp(answer.delay, Millis{0}, policy::kLongestDelay)
                          : wait_of(meta);
  return retry(std::move(meta), wait, now);
}

NextStep after_loss(Meta meta, std::int64_t lost, std::int64_t most, std::int64_t now) {
  if (lost <= most && meta.retry_count < meta.max_retries) {
    const Millis wait = wait_of(meta);
    return retry(std::move(meta), wait, now);
  }
  return dead(std::move(meta), "worker lost " + std::to_string(lost) + " times", now);
}

NextStep after_ageing(Meta meta, std::int64_t now) {
  return dead(std::move(meta), "ttl_expired", now);
}

Meta requeued(Meta meta, std::int64_t now) {
  meta.status = Status::pending;
  meta.retry_count = 0;
  meta.retried_from_dlq_at = now;
  meta.updated_at = now;
  return meta;
}

}  // namespace easyretry::mxrmq
