#pragma once
// The alert rules: from what happens to tasks they derive which messages to send, to which channel and when. Pure: time
// is a parameter, and nothing is sent. One thread.
//
// Each channel asks for its next message when its rate limit allows one. Until then, events are only counted, so
// neither a storm of failures nor a dead channel makes anything grow: there is one group for each rule, channel, kind
// and handler, up to kMostGroups. Further handlers are reported together as "(others)", and their backlog is not
// reported.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/config.h>
#include <easyretry/event.h>
#include <easyretry/time.h>

#include "alert/counters.h"
#include "alert/message.h"

namespace easyretry::alert {

inline constexpr std::size_t kMostGroups = 1000;  // per map; each takes a few kilobytes at most
inline constexpr std::string_view kOthers = "(others)";

// Whether any of the patterns of a rule matches the name; * stands for any characters.
bool matches(const std::vector<std::string>& patterns, std::string_view name);

class Rules {
 public:
  explicit Rules(AlertsConfig config);
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  // False: events of this kind need not be fed. From any thread.
  bool wants(EventKind kind) const;
  bool wants_backlog() const;
  bool wants_circuits() const;

  // True, here and below: a channel should ask again earlier than next_at() said.
  bool feed(const Event& event, Instant now);
  // How long the oldest task of each handler has been due. `complete`: handlers that are not listed have no due task.
  bool feed_backlog(const std::string& name_space, const std::map<std::string, Millis>& ages, bool complete,
                    Instant now);
  // The circuits of this instance that are open; all others are closed.
  struct OpenCircuit {
    std::string name;
    std::vector<std::string> handlers;
    Millis age;
  };
  bool feed_circuits(const std::string& name_space, const std::vector<OpenCircuit>& open, Instant now);
  // Time has passed: rates may be back to normal, and groups may be over. To be called about once a second, or less
  // often.
  bool tick(Instant now);

  // The message to send to this channel now, if any.
  std::optional<Message> next(const std::string& channel, Instant now);
  // At the end: messages that wait to collect more tasks are due now. Rate limits still apply.
  void skip_waits(Instant now);
  // Takes one of the messages per minute of this channel, which must exist; the time to wait if there is none left.
  std::optional<Millis> take_turn(const std::string& channel, Instant now);
  // When to ask again if nothing else happens; Instant::max(): never.
  Instant next_at(const std::string& channel) const;

 private:
  struct Route {  // a rule, for one of its channels
    std::string rule_name;
    const AlertRule& rule;
    std::string channel;
  };
  struct Group {
    std::size_t route;
    Kind kind;
    std::string name_space;
    std::string handler;
    auto operator<=>(const Group&) const = default;
  };
  struct Watched {
    explicit Watched(const AlertRule& rule) : level(rule.window), attempts(rule.window) {}
    Level level;
    AttemptCounter attempts;        // failure_rate
    std::vector<Sample> samples{};  // the last ones
    Millis age{};                   // backlog_age, circuit_open
  };

  bool applies(const Route& route, std::string_view name_space, std::string_view handler) const;
  bool count(std::size_t route, Kind kind, const Event& event, Instant now);
  bool watch_attempt(std::size_t route, const Event& event, bool failed, Instant now);
  bool update_rate(const AlertRule& rule, Watched& watched, Instant now) const;
  bool set_age(const Group& group, Millis age, Instant now);
  template <class Value>
  Value& at(std::map<Group, Value>& groups, Group group, const auto&... made_of);
  Message message_for(const Group& group) const;
  void describe(Message& message, const Watched& watched, Instant now) const;
  // The group of this channel that has been due longest.
  template <class Value>
  typename std::map<Group, Value>::iterator first_due(std::map<Group, Value>& groups, const std::string& channel);

  const AlertsConfig config_;
  std::vector<Route> routes_;
  std::map<std::string, RateLimit> limits_;  // by channel
  std::map<Group, Tally> tallies_;
  std::map<Group, Watched> watched_;
};

}  // namespace easyretry::alert
