#pragma once
// What a handler may answer when returning normally or throwing is not precise enough.

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
// Counts as a failed attempt; the policy says when the next one is.
inline Answer retry_later(std::string why) {
  return {Answer::Kind::retry_later, std::move(why)};
}
// As above, but this long from now instead of what the backoff says.
inline Answer retry_after(Millis delay, std::string why = "asked to wait") {
  return {Answer::Kind::retry_after, std::move(why), delay};
}
// A final failure, whatever the policy would still allow.
inline Answer give_up(std::string why) {
  return {Answer::Kind::give_up, std::move(why)};
}

}  // namespace easyretry
