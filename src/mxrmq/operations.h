#pragma once
// The operations on messages, one script each, many messages at a time where that is useful; and scans over a queue.
// They throw ServerError; a LostReply if the operation may have been executed. Repeating an operation is safe: nothing
// is done twice, and it returns false for what was done before.

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mxrmq/link.h"
#include "mxrmq/message.h"

namespace easyretry::mxrmq {

// A leased message. Each claim has its own token, so that an outdated claim of the same worker is recognised, too.
struct Lease {
  std::string id;
  std::string token;
};

struct LeasedMessage {
  Lease lease;
  std::string json;
};

struct Retry {
  Lease lease;
  Millis delay{0};
  std::string json;
};

inline constexpr std::size_t kMessagesACall = 100;
inline constexpr std::size_t kKeptParseErrors = 10'000;  // Python's default

struct Claim {
  std::int64_t now = 0;
  std::vector<LeasedMessage> messages;
};

// Returns false if the id already exists.
bool produce(QueueConnection& link, const Message& message, Millis ttl);
bool produce_delayed(QueueConnection& link, const Message& message, Millis delay);

Claim claim(QueueConnection& link, std::string_view topic, const std::string& token, Millis lease, std::size_t most);
// Waits until the topic has a message to claim, at most this many seconds.
void wait_for_message(QueueConnection& link, std::string_view topic, int seconds);

// One answer for each: false if another worker has it, or if it has ended.
std::vector<bool> complete(QueueConnection& link, std::string_view topic, std::span<const Lease> leases);
std::vector<bool> retry(QueueConnection& link, std::string_view topic, std::span<const Retry> retries);
std::vector<bool> bury(QueueConnection& link, std::string_view topic, std::span<const LeasedMessage> dead);
std::vector<bool> release(QueueConnection& link, std::string_view topic, std::span<const Lease> leases);
std::vector<bool> heartbeat(QueueConnection& link, Millis lease, std::span<const Lease> leases);
// The json of each is the result of parse_error_record().
std::vector<bool> set_aside(QueueConnection& link, std::string_view topic, std::span<const LeasedMessage> unreadable,
                            std::size_t kept = kKeptParseErrors);

struct Promotion {
  std::int64_t due = 0;   // number found, at most `most`
  std::int64_t next = 0;  // ms until the next one is due; -1: there is none
};
Promotion promote(QueueConnection& link, std::size_t most = kMessagesACall);

struct Reaped {
  LeasedMessage taken;  // now leased by the caller
  bool old = false;
  std::int64_t lost = 0;
  std::string topic;  // empty if it is unknown
};
struct ReapedBatch {
  std::int64_t now = 0;
  std::vector<Reaped> messages;
};
ReapedBatch reap(QueueConnection& link, const std::string& token, Millis lease, std::size_t most);
std::int64_t adopt(QueueConnection& link, std::string_view topic, Millis deadline);

enum class Requeued { done, gone, changed, live };
Requeued requeue(QueueConnection& link, const std::string& id, const std::string& before, const std::string& json,
                 std::string_view topic, Millis delay);
// The JSON in dlq:data; empty if there is none.
std::string dead_letter(QueueConnection& link, std::string_view id);

Counts counts(QueueConnection& link, std::string_view topic);

enum class Where { payloads, dlq, own };

std::string name_of(Where where);

struct FoundField {
  enum class Kind {
    body,
    companion,  // a topic or our lease
    lone,       // the same without the message's body
  };
  std::string id;
  Kind kind = Kind::body;
  std::string topic;  // without the prefix
};

// Scans a queue in slices, while others use it. Like SCAN, it returns everything that exists during the whole scan;
// other entries may or may not be returned.
void each_slice(QueueConnection& link, Where where, const std::function<void(const std::vector<FoundField>&)>& visit);
void each_slice(QueueConnection& link, const std::string& list,
                const std::function<void(const std::vector<std::string>&)>& visit);

// The topics that messages name, and those in the URL.
std::set<std::string> topics_of(QueueConnection& link);

}  // namespace easyretry::mxrmq
