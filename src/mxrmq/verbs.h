#pragma once
// What can be done to messages, one script each; many at a time where that is useful. Throw ServerError, a LostReply
// where it may have been done. Sent again, what was done already is answered with false, and nothing is done twice.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mxrmq/link.h"
#include "mxrmq/message.h"

namespace easyretry::mxrmq {

// A message in somebody's hands. The token is of one claim, so that a late one of the same worker is told apart, too.
struct Hold {
  std::string id;
  std::string token;
};

struct Taken {
  Hold hold;
  std::string json;
};

struct Retry {
  Hold hold;
  Millis delay{0};
  std::string json;
};

inline constexpr std::size_t kMessagesACall = 100;
inline constexpr std::size_t kKeptParseErrors = 10'000;  // Python's default

struct Claim {
  std::int64_t now = 0;
  std::vector<Taken> messages;
};

// False: its id is there already.
bool produce(Link& link, const Message& message, Millis ttl);
bool produce_delayed(Link& link, const Message& message, Millis delay);

Claim claim(Link& link, std::string_view topic, const std::string& token, Millis lease, std::size_t most);
// Waits until the topic has something to be claimed, at most so many seconds.
void wait_for_message(Link& link, std::string_view topic, int seconds);

// One answer for each: false where somebody else has it, or it has ended.
std::vector<bool> complete(Link& link, std::string_view topic, std::span<const Hold> holds);
std::vector<bool> retry(Link& link, std::string_view topic, std::span<const Retry> retries);
std::vector<bool> bury(Link& link, std::string_view topic, std::span<const Taken> dead);
std::vector<bool> release(Link& link, std::string_view topic, std::span<const Hold> holds);
std::vector<bool> heartbeat(Link& link, Millis lease, std::span<const Hold> holds);
// Of each, the json is what parse_error_record() made of it.
std::vector<bool> set_aside(Link& link, std::string_view topic, std::span<const Taken> unreadable,
                            std::size_t kept = kKeptParseErrors);

struct Promotion {
  std::int64_t due = 0;   // that were found, at most `most`
  std::int64_t next = 0;  // ms until the next one; -1: there is none
};
Promotion promote(Link& link, std::size_t most = kMessagesACall);

struct Reaped {
  Taken taken;  // by the caller, for a while
  bool old = false;
  std::int64_t lost = 0;
  std::string topic;  // "" where nobody knows
};
struct Reaping {
  std::int64_t now = 0;
  std::vector<Reaped> messages;
};
Reaping reap(Link& link, const std::string& token, Millis lease, std::size_t most);
std::int64_t adopt(Link& link, std::string_view topic, Millis deadline);

enum class Requeued { done, gone, changed, live };
Requeued requeue(Link& link, const std::string& id, const std::string& before, const std::string& json,
                 std::string_view topic, Millis delay);
// As it is in dlq:data; empty where it is not.
std::string dead_letter(Link& link, std::string_view id);

Counts counts(Link& link, std::string_view topic);

}  // namespace easyretry::mxrmq
