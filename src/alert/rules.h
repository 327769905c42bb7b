#pragma once
// What is to be told, to whom and when, from what happens to tasks. Pure: time is given, nothing is sent. One thread.
//
// Each channel asks for its next message when it has room for one. Until then what would be told is counted, so neither
// a storm nor a dead channel makes anything grow: there is one group for each rule, channel, kind and handler, up to
// kMostGroups; the handlers beyond are told together as "(others)", and of their backlog nothing is told.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/alerts.h>
#include <easyretry/event.h>
#include <easyretry/time.h>

#include "alert/attempts.h"
#include "alert/level.h"
#include "alert/limit.h"
#include "alert/message.h"
#include "alert/tally.h"

namespace easyretry::alert {

inline constexpr std::size_t kMostGroups = 1000;  // of a kind; some kilobytes each, at most
inline constexpr std::string_view kOthers = "(others)";

class Rules {
 public:
  explicit Rules(AlertsConfig config);
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  // What to do with other kinds of events is clear: nothing. From any thread.
  bool wants(EventKind kind) const;
  bool wants_backlog() const;

  // True, here and below: some channel should ask again sooner than it was told.
  bool feed(const Event& event, Instant now);
  // How long the oldest task of each handler has been due. `complete`: nothing is due of handlers that are not there.
  bool feed_backlog(const std::string& space, const std::map<std::string, Millis>& ages, bool complete, Instant now);
  // Time has passed: rates may be fine again, and groups may be over. About once a second, or less often.
  bool tick(Instant now);

  // What this channel is to be told now, if anything.
  std::optional<Message> next(const std::string& channel, Instant now);
  // Nobody will ask later: what is due is due now. A channel's limit still counts.
  void hurry(Instant now);
  // When to ask again, unless something happens; Instant::max(): not before.
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
    std::string space;
    std::string handler;
    auto operator<=>(const Group&) const = default;
  };
  struct Watched {
    explicit Watched(const AlertRule& rule) : level(rule.window), attempts(rule.window) {}
    Level level;
    Attempts attempts;              // of failure_rate
    std::vector<Sample> samples{};  // the last ones
    Millis age{};                   // of backlog_age
  };

  bool concerns(const Route& route, std::string_view space, std::string_view handler) const;
  bool count(std::size_t route, Kind kind, const Event& event, Instant now);
  bool watch_attempt(std::size_t route, const Event& event, bool failed, Instant now);
  bool judge_rate(const AlertRule& rule, Watched& watched, Instant now) const;
  bool set_age(const Group& group, Millis age, Instant now);
  template <class Value>
  Value& at(std::map<Group, Value>& groups, Group group, const auto&... made_of);
  Message message_for(const Group& group) const;
  void describe(Message& message, const Watched& watched, Instant now) const;
  // The group of this channel that has been due for longest.
  template <class Value>
  typename std::map<Group, Value>::iterator first_due(std::map<Group, Value>& groups, const std::string& channel);

  const AlertsConfig config_;
  std::vector<Route> routes_;
  std::map<std::string, Limit> limits_;  // by channel
  std::map<Group, Tally> tallies_;
  std::map<Group, Watched> watched_;
};

}  // namespace easyretry::alert
