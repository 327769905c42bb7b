#include "mxrmq/verbs.h"

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

std::vector<std::string> arguments_of(std::span<const Hold> holds, std::vector<std::string> arguments = {}) {
  for (const Hold& hold : holds) arguments.insert(arguments.end(), {hold.id, hold.token});
  return arguments;
}

std::vector<std::string> arguments_of(std::span<const Taken> messages, std::vector<std::string> arguments = {}) {
  for (const Taken& each : messages) arguments.insert(arguments.end(), {each.hold.id, each.hold.token, each.json});
  return arguments;
}

}  // namespace

bool produce(Link& link, const Message& message, Millis ttl) {
  return link.run(scripts::produce, message.topic,
                  {message.id, to_json(message), link.keys().full_topic(message.topic), millis(ttl),
                   message.priority == Priority::high ? "1" : "0"})
             .integer() == 1;
}

bool produce_delayed(Link& link, const Message& message, Millis delay) {
  return link.run(scripts::produce_delayed, message.topic,
                  {message.id, to_json(message), link.keys().full_topic(message.topic), millis(delay)})
             .integer() == 1;
}

Claim claim(Link& link, std::string_view topic, const std::string& token, Millis lease, std::size_t most) {
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

// Moved from the right end of the list to its right end: it stays where it is, and all who wait are woken.
void wait_for_message(Link& link, std::string_view topic, int seconds) {
  const std::string pending = link.keys().pending(topic);
  const std::string patience = std::to_string(seconds);
  link.run(Command::of("BLMOVE", std::string_view{pending}, std::string_view{pending}, "RIGHT", "RIGHT",
                       std::string_view{patience}));
}

std::vector<bool> complete(Link& link, std::string_view topic, std::span<const Hold> holds) {
  return answers(link.run(scripts::complete, topic, arguments_of(holds)));
}

std::vector<bool> retry(Link& link, std::string_view topic, std::span<const Retry> retries) {
  std::vector<std::string> arguments;
  for (const Retry& each : retries) {
    arguments.insert(arguments.end(), {each.hold.id, each.hold.token, millis(each.delay), each.json});
  }
  return answers(link.run(scripts::retry, topic, arguments));
}

std::vector<bool> bury(Link& link, std::string_view topic, std::span<const Taken> dead) {
  return answers(link.run(scripts::dead, topic, arguments_of(dead)));
}

std::vector<bool> release(Link& link, std::string_view topic, std::span<const Hold> holds) {
  return answers(link.run(scripts::release, topic, arguments_of(holds)));
}

std::vector<bool> heartbeat(Link& link, Millis lease, std::span<const Hold> holds) {
  return answers(link.run(scripts::heartbeat, "", arguments_of(holds, {millis(lease)})));
}

std::vector<bool> set_aside(Link& link, std::string_view topic, std::span<const Taken> unreadable, std::size_t kept) {
  return answers(link.run(scripts::parse_error, topic, arguments_of(unreadable, {std::to_string(kept)})));
}

Promotion promote(Link& link, std::size_t most) {
  const Reply reply = link.run(scripts::promote, "", {std::to_string(most)});
  return {reply.integer(0), reply.integer(1)};
}

Reaping reap(Link& link, const std::string& token, Millis lease, std::size_t most) {
  const Reply reply = link.run(scripts::reap, "", {token, millis(lease), std::to_string(most)});
  Reaping reaping{.now = reply.integer(0), .messages = {}};
  for (std::size_t i = 1; i + 4 < reply.size(); i += 5) {
    reaping.messages.push_back({.taken = {{std::string{reply.text(i)}, token}, std::string{reply.text(i + 4)}},
                                .old = reply.text(i + 1) == "old",
                                .lost = reply.integer(i + 2),
                                .topic = link.keys().topic_of(reply.text(i + 3))});
  }
  return reaping;
}

std::int64_t adopt(Link& link, std::string_view topic, Millis deadline) {
  constexpr std::size_t kLookedAt = 1'000;
  return link.run(scripts::adopt, topic, {millis(deadline), std::to_string(kLookedAt)}).integer();
}

Requeued requeue(Link& link, const std::string& id, const std::string& before, const std::string& json,
                 std::string_view topic, Millis delay) {
  const Reply reply = link.run(scripts::requeue, "", {id, before, json, link.keys().full_topic(topic), millis(delay)});
  if (reply.text() == "done") return Requeued::done;
  if (reply.text() == "changed") return Requeued::changed;
  return reply.text() == "live" ? Requeued::live : Requeued::gone;
}

std::string dead_letter(Link& link, std::string_view id) {
  const std::string& key = link.keys().dlq_data;
  return std::string{link.run(Command::of("HGET", std::string_view{key}, id)).text()};
}

Counts counts(Link& link, std::string_view topic) {
  const Reply reply = link.run(scripts::counts, topic, {});
  return {reply.integer(0), reply.integer(1), reply.integer(2), reply.integer(3), reply.integer(4), reply.integer(5)};
}

}  // namespace easyretry::mxrmq
