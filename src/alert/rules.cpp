#include "alert/rules.h"

#include <algorithm>
#include <set>

namespace easyretry::alert {
namespace {

std::optional<Instant> due_of(const Tally& tally) {
  return tally.due();
}
std::optional<Instant> due_of(const auto& watched) {
  return watched.level.due();
}

Millis limit_of(const AlertRule& rule, Kind kind) {
  return kind == Kind::circuit_open ? rule.circuit_open : rule.backlog_age;
}

Sample sample_of(const Event& event) {
  const std::string& error = event.message.empty() ? event.task.last_error : event.message;
  return {to_string(event.task.id), one_line(event.task.key, kLongestKey), one_line(error, kLongestError)};
}

// * stands for any characters, including none. Goes back only to the last *: linear in practice, and never worse than
// the product of both lengths.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_end = 0;  // where the last * ends so far
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_end = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

bool matches(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return matches(pattern, name); });
}

Rules::Rules(AlertsConfig config) : config_(std::move(config)) {
  for (const auto& [name, rule] : config_.rules) {
    // A channel that is named twice gets each message once.
    for (const std::string& channel : std::set<std::string>(rule.channels.begin(), rule.channels.end())) {
      routes_.push_back({name, rule, channel});
    }
  }
  for (const auto& [name, channel] : config_.channels) limits_.emplace(name, channel.per_minute);
}

bool Rules::wants_backlog() const {
  return std::ranges::any_of(routes_, [](const Route& route) { return route.rule.backlog_age > Millis{0}; });
}

bool Rules::wants_circuits() const {
  return std::ranges::any_of(routes_, [](const Route& route) { return route.rule.circuit_open > Millis{0}; });
}

bool Rules::applies(const Route& route, std::string_view name_space, std::string_view handler) const {
  return matches(route.rule.namespaces, name_space) && matches(route.rule.handlers, handler);
}

bool Rules::wants(EventKind kind) const {
  const auto any = [&](auto wanted) {
    return std::ranges::any_of(routes_, [&](const Route& route) { return wanted(route.rule); });
  };
  switch (kind) {
    case EventKind::gave_up:
    case EventKind::parked: return any([](const AlertRule& rule) { return rule.final_failures > 0; });
    case EventKind::quarantined: return any([](const AlertRule& rule) { return rule.quarantines > 0; });
    case EventKind::attempt_failed:
    case EventKind::succeeded: return any([](const AlertRule& rule) { return rule.failure_rate > 0; });
    default: return false;
  }
}

bool Rules::feed(const Event& event, Instant now) {
  bool sooner = false;
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    if (!applies(routes_[i], event.task.name_space, event.task.handler)) continue;
    switch (event.kind) {
      case EventKind::gave_up:
      case EventKind::parked: sooner |= count(i, Kind::final_failure, event, now); break;
      case EventKind::quarantined: sooner |= count(i, Kind::quarantine, event, now); break;
      case EventKind::attempt_failed: sooner |= watch_attempt(i, event, true, now); break;
      case EventKind::succeeded: sooner |= watch_attempt(i, event, false, now); break;
      default: break;
    }
  }
  return sooner;
}

// Handler names come from clients, so the number of groups is bounded: one group takes all names beyond the bound.
template <class Value>
Value& Rules::at(std::map<Group, Value>& groups, Group group, const auto&... made_of) {
  if (groups.size() >= kMostGroups && !groups.contains(group)) {
    group.name_space = kOthers;
    group.handler = kOthers;
  }
  return groups.try_emplace(std::move(group), made_of...).first->second;
}

bool Rules::count(std::size_t route, Kind kind, const Event& event, Instant now) {
  const AlertRule& rule = routes_[route].rule;
  const int threshold = kind == Kind::quarantine ? rule.quarantines : rule.final_failures;
  if (threshold == 0) return false;
  return at(tallies_, {route, kind, event.task.name_space, event.task.handler}, rule, threshold)
      .add(sample_of(event), now);
}

bool Rules::watch_attempt(std::size_t route, const Event& event, bool failed, Instant now) {
  const AlertRule& rule = routes_[route].rule;
  if (rule.failure_rate == 0) return false;
  Watched& watched = at(watched_, {route, Kind::failure_rate, event.task.name_space, event.task.handler}, rule);
  watched.attempts.add(failed, now);
  if (failed) {
    if (watched.samples.size() >= static_cast<std::size_t>(rule.samples) && !watched.samples.empty()) {
      watched.samples.erase(watched.samples.begin());
    }
    if (rule.samples > 0) watched.samples.push_back(sample_of(event));
  }
  return update_rate(rule, watched, now);
}

// A rate is too high only after enough attempts; it is back to normal after any number of them.
bool Rules::update_rate(const AlertRule& rule, Watched& watched, Instant now) const {
  const auto [all, failed] = watched.attempts.within_window(now);
  const auto limit = static_cast<std::uint64_t>(rule.failure_rate);
  const bool enough = all >= static_cast<std::uint64_t>(rule.min_attempts);
  return watched.level.update(enough && failed * 100 >= limit * all, 2 * failed * 100 <= limit * all, now);
}

bool Rules::feed_backlog(const std::string& name_space, const std::map<std::string, Millis>& ages, bool complete,
                         Instant now) {
  bool sooner = false;
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    if (routes_[i].rule.backlog_age <= Millis{0}) continue;
    for (const auto& [handler, age] : ages) {
      if (applies(routes_[i], name_space, handler))
        sooner |= set_age({i, Kind::backlog_age, name_space, handler}, age, now);
    }
  }
  if (!complete) return sooner;
  for (auto& [group, watched] : watched_) {
    if (group.kind == Kind::backlog_age && group.name_space == name_space && !ages.contains(group.handler)) {
      sooner |= set_age(group, Millis{0}, now);
    }
  }
  return sooner;
}

bool Rules::feed_circuits(const std::string& name_space, const std::vector<OpenCircuit>& open, Instant now) {
  bool sooner = false;
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    if (routes_[i].rule.circuit_open <= Millis{0}) continue;
    for (const OpenCircuit& one : open) {
      const auto watches = [&](const std::string& handler) { return applies(routes_[i], name_space, handler); };
      if (!std::ranges::any_of(one.handlers, watches)) continue;
      sooner |= set_age({i, Kind::circuit_open, name_space, one.name}, one.age, now);
    }
  }
  for (auto& [group, watched] : watched_) {
    if (group.kind != Kind::circuit_open || group.name_space != name_space) continue;
    if (std::ranges::find(open, group.handler, &OpenCircuit::name) == open.end()) {
      sooner |= set_age(group, Millis{0}, now);
    }
  }
  return sooner;
}

bool Rules::set_age(const Group& group, Millis age, Instant now) {
  const AlertRule& rule = routes_[group.route].rule;
  const Millis limit = limit_of(rule, group.kind);
  const bool too_high = age >= limit;
  const bool known = watched_.contains(group);
  if (!known && (!too_high || watched_.size() >= kMostGroups)) return false;
  Watched& watched = watched_.try_emplace(group, rule).first->second;
  watched.age = age;
  return watched.level.update(too_high, 2 * age <= limit, now);
}

bool Rules::tick(Instant now) {
  bool sooner = false;
  for (auto& [group, watched] : watched_) {
    if (group.kind == Kind::failure_rate) sooner |= update_rate(routes_[group.route].rule, watched, now);
  }
  std::erase_if(tallies_, [&](const auto& entry) { return entry.second.over(now); });
  std::erase_if(watched_, [&](const auto& entry) {
    return entry.second.level.over(now) && entry.second.attempts.within_window(now).all == 0;
  });
  return sooner;
}

template <class Value>
typename std::map<Rules::Group, Value>::iterator Rules::first_due(std::map<Group, Value>& groups,
                                                                  const std::string& channel) {
  auto first = groups.end();
  for (auto i = groups.begin(); i != groups.end(); ++i) {
    if (routes_[i->first.route].channel != channel || !due_of(i->second)) continue;
    if (first == groups.end() || *due_of(i->second) < *due_of(first->second)) first = i;
  }
  return first;
}

Instant Rules::next_at(const std::string& channel) const {
  Instant earliest = Instant::max();
  const auto look = [&](const auto& groups) {
    for (const auto& [group, value] : groups) {
      const auto due = due_of(value);
      if (due && routes_[group.route].channel == channel) earliest = std::min(earliest, *due);
    }
  };
  look(tallies_);
  look(watched_);
  return earliest == Instant::max() ? earliest : std::max(earliest, limits_.at(channel).free_at());
}

std::optional<Message> Rules::next(const std::string& channel, Instant now) {
  if (next_at(channel) > now) return std::nullopt;
  limits_.at(channel).take(now);
  const auto tally = first_due(tallies_, channel);
  const auto watched = first_due(watched_, channel);
  const bool counted =
      tally != tallies_.end() && (watched == watched_.end() || *due_of(tally->second) <= *due_of(watched->second));
  Message message = message_for(counted ? tally->first : watched->first);
  if (counted) {
    tally->second.take(message, now);
  } else {
    describe(message, watched->second, now);
    watched->second.level.take(now);
  }
  return message;
}

std::optional<Millis> Rules::take_turn(const std::string& channel, Instant now) {
  RateLimit& limit = limits_.at(channel);
  if (limit.free_at() > now) return std::chrono::ceil<Millis>(limit.free_at() - now);
  limit.take(now);
  return std::nullopt;
}

void Rules::skip_waits(Instant now) {
  for (auto& [group, tally] : tallies_) tally.skip_wait(now);
}

Message Rules::message_for(const Group& group) const {
  return {.kind = group.kind,
          .rule = routes_[group.route].rule_name,
          .name_space = group.name_space,
          .handler = group.handler,
          .age_limit = limit_of(routes_[group.route].rule, group.kind),
          .rate_limit = routes_[group.route].rule.failure_rate};
}

void Rules::describe(Message& message, const Watched& watched, Instant now) const {
  message.resolved = !watched.level.too_high();
  message.age = watched.age;
  if (message.kind != Kind::failure_rate) return;
  const auto [all, failed] = watched.attempts.within_window(now);
  message.attempts = all;
  message.count = failed;
  message.within = config_.rules.at(message.rule).window;
  if (!message.resolved) message.samples = watched.samples;
}

}  // namespace easyretry::alert
