#pragma once
// The answer of a handler for which returning normally or throwing is not precise enough.

#include <string>

#include <easyretry/time.h>

namespace easyretry {

struct Answer {
  enum class Kind { done, retry_later, retry_after, give_up };
  Kind kind = Kind::done;
  std::string why{};
  Millis delay{0};
};

inline Answer done() {
  return {};
}
// Counts as a failed attempt; the policy decides when the next one starts.
inline Answer retry_later(std::string why) {
  return {Answer::Kind::retry_later, std::move(why)};
}
// As above, but the next attempt starts after `delay` instead of the policy's backoff.
inline Answer retry_after(Millis delay, std::string why = "asked to wait") {
  return {Answer::Kind::retry_after, std::move(why), delay};
}
// A final failure, even if the policy would allow more attempts.
inline Answer give_up(std::string why) {
  return {Answer::Kind::give_up, std::move(why)};
}

}  // namespace easyretry
