#include "mxrmq/operations.h"

#include <algorithm>

namespace easyretry::mxrmq {
namespace {

std::string millis(Millis duration) {
  return std::to_string(duration.count());
}

std::vector<bool> answers(const Reply& reply) {
  std::vector<bool> each;
  for (std::size_t i = 0; i < reply.size(); ++i) each.push_back(reply.integer(i) == 1);
  return each;
}

std::vector<std::string> arguments_of(std::span<const Lease> leases, std::vector<std::string> arguments = {}) {
  for (const Lease& lease : leases) arguments.insert(arguments.end(), {lease.id, lease.token});
  return arguments;
}

std::vector<std::string> arguments_of(std::span<const LeasedMessage> messages,
                                      std::vector<std::string> arguments = {}) {
  for (const LeasedMessage& each : messages)
    arguments.insert(arguments.end(), {each.lease.id, each.lease.token, each.json});
  return arguments;
}

constexpr std::size_t kFieldsASlice = 500;
constexpr std::int64_t kIdsASlice = 1'000;

FoundField::Kind kind_of(std::string_view mark) {
  if (mark.empty()) return FoundField::Kind::body;
  return mark == "1" ? FoundField::Kind::companion : FoundField::Kind::lone;
}

}  // namespace

bool produce(QueueConnection& link, const Message& message, Millis ttl) {
  return link.run(scripts::produce, message.topic,
                  {message.id, to_json(message), link.keys().full_topic(message.topic), millis(ttl),
                   message.priority == Priority::high ? "1" : "0"})
             .integer() == 1;
}

bool produce_delayed(QueueConnection& link, const Message& message, Millis delay) {
  return link.run(scripts::produce_delayed, message.topic,
                  {message.id, to_json(message), link.keys().full_topic(message.topic), millis(delay)})
             .integer() == 1;
}

Claim claim(QueueConnection& link, std::string_view topic, const std::string& token, Millis lease, std::size_t most) {
  const bool listed = link.options().in_flight == InFlight::list;
  const Reply reply = link.run(scripts::claim, topic,
                               {link.keys().full_topic(topic), token, millis(lease),
                                std::to_string(std::min(most, kMessagesACall)), listed ? "1" : "0"});
  Claim claim{.now = reply.integer(0), .messages = {}};
  for (std::size_t i = 1; i + 1 < reply.size(); i += 2) {
    claim.messages.push_back({{std::string{reply.text(i)}, token}, std::string{reply.text(i + 1)}});
  }
  return claim;
}

// Moves a message from the right end of the list to its right end: the list does not change, and all waiting workers
// are woken.
void wait_for_message(QueueConnection& link, std::string_view topic, int seconds) {
  const std::string pending = link.keys().pending(topic);
  const std::string patience = std::to_string(seconds);
  link.run(Command::of("BLMOVE", std::string_view{pending}, std::string_view{pending}, "RIGHT", "RIGHT",
                       std::string_view{patience}));
}

std::vector<bool> complete(QueueConnection& link, std::string_view topic, std::span<const Lease> leases) {
  return answers(link.run(scripts::complete, topic, arguments_of(leases)));
}

std::vector<bool> retry(QueueConnection& link, std::string_view topic, std::span<const Retry> retries) {
  std::vector<std::string> arguments;
  for (const Retry& each : retries) {
    arguments.insert(arguments.end(), {each.lease.id, each.lease.token, millis(each.delay), each.json});
  }
  return answers(link.run(scripts::retry, topic, arguments));
}

std::vector<bool> bury(QueueConnection& link, std::string_view topic, std::span<const LeasedMessage> dead) {
  return answers(link.run(scripts::dead, topic, arguments_of(dead)));
}

std::vector<bool> release(QueueConnection& link, std::string_view topic, std::span<const Lease> leases) {
  return answers(link.run(scripts::release, topic, arguments_of(leases)));
}

std::vector<bool> heartbeat(QueueConnection& link, Millis lease, std::span<const Lease> leases) {
  return answers(link.run(scripts::heartbeat, "", arguments_of(leases, {millis(lease)})));
}

std::vector<bool> set_aside(QueueConnection& link, std::string_view topic, std::span<const LeasedMessage> unreadable,
                            std::size_t kept) {
  return answers(link.run(scripts::parse_error, topic, arguments_of(unreadable, {std::to_string(kept)})));
}

Promotion promote(QueueConnection& link, std::size_t most) {
  const Reply reply = link.run(scripts::promote, "", {std::to_string(most)});
  return {reply.integer(0), reply.integer(1)};
}

ReapedBatch reap(QueueConnection& link, const std::string& token, Millis lease, std::size_t most) {
  const Reply reply = link.run(scripts::reap, "", {token, millis(lease), std::to_string(most)});
  ReapedBatch reaping{.now = reply.integer(0), .messages = {}};
  for (std::size_t i = 1; i + 4 < reply.size(); i += 5) {
    reaping.messages.push_back({.taken = {{std::string{reply.text(i)}, token}, std::string{reply.text(i + 4)}},
                                .old = reply.text(i + 1) == "old",
                                .lost = reply.integer(i + 2),
                                .topic = link.keys().topic_of(reply.text(i + 3))});
  }
  return reaping;
}

std::int64_t adopt(QueueConnection& link, std::string_view topic, Millis deadline) {
  constexpr std::size_t kLookedAt = 1'000;
  return link.run(scripts::adopt, topic, {millis(deadline), std::to_string(kLookedAt)}).integer();
}

Requeued requeue(QueueConnection& link, const std::string& id, const std::string& before, const std::string& json,
                 std::string_view topic, Millis delay) {
  const Reply reply = link.run(scripts::requeue, "", {id, before, json, link.keys().full_topic(topic), millis(delay)});
  if (reply.text() == "done") return Requeued::done;
  if (reply.text() == "changed") return Requeued::changed;
  return reply.text() == "live" ? Requeued::live : Requeued::gone;
}

std::string dead_letter(QueueConnection& link, std::string_view id) {
  const std::string& key = link.keys().dlq_data;
  return std::string{link.run(Command::of("HGET", std::string_view{key}, id)).text()};
}

Counts counts(QueueConnection& link, std::string_view topic) {
  const Reply reply = link.run(scripts::counts, topic, {});
  return {reply.integer(0), reply.integer(1), reply.integer(2), reply.integer(3), reply.integer(4), reply.integer(5)};
}

std::string name_of(Where where) {
  switch (where) {
    case Where::payloads: return "payloads";
    case Where::dlq: return "dlq";
    case Where::own: return "own";
  }
  return "";
}

void each_slice(QueueConnection& link, Where where, const std::function<void(const std::vector<FoundField>&)>& visit) {
  std::string cursor = "0";
  do {
    const Reply reply = link.run(scripts::fields, "", {name_of(where), cursor, std::to_string(kFieldsASlice)});
    std::vector<FoundField> found;
    for (std::size_t i = 1; i + 2 < reply.size(); i += 3) {
      found.push_back(
          {std::string{reply.text(i)}, kind_of(reply.text(i + 1)), link.keys().topic_of(reply.text(i + 2))});
    }
    cursor = reply.text(0);
    visit(found);
  } while (cursor != "0");
}

void each_slice(QueueConnection& link, const std::string& list,
                const std::function<void(const std::vector<std::string>&)>& visit) {
  for (std::int64_t from = 0;; from += kIdsASlice) {
    const std::string first = std::to_string(from);
    const std::string last = std::to_string(from + kIdsASlice - 1);
    const Reply reply =
        link.run(Command::of("LRANGE", std::string_view{list}, std::string_view{first}, std::string_view{last}));
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < reply.size(); ++i) ids.emplace_back(reply.text(i));
    if (ids.empty()) return;
    visit(ids);
  }
}

std::set<std::string> topics_of(QueueConnection& link) {
  std::set<std::string> topics{link.options().topics.begin(), link.options().topics.end()};
  each_slice(link, Where::payloads, [&](const std::vector<FoundField>& found) {
    for (const FoundField& each : found) {
      if (!each.topic.empty()) topics.insert(each.topic);
    }
  });
  return topics;
}

}  // namespace easyretry::mxrmq
