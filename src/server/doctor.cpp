#include "server/doctor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/duration_text.h"
#include "call/errors.h"
#include "server/served_handlers.h"
#include "storage/lag.h"

namespace easyretry::server {
namespace {

using base::age_text;
using call::value_or_throw;
using namespace std::chrono_literals;

constexpr Millis kRecent = 24h;
constexpr std::size_t kMostCounted = 1000;  // above this, the counts give the number
constexpr const char* kLate = "late tasks";

constexpr std::size_t kMostNames = 10;

using FilledIn = std::map<std::string, std::string>;
using Items = std::vector<FilledIn>;
using LateHandlers = std::vector<std::pair<Millis, std::string>>;

std::string ms_text(Millis time) {
  return std::to_string(time.count());
}

// "mail.send (22 min), pay (3 min) and 4 more", the latest first.
std::string listed(const LateHandlers& late) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNames, late.size()); ++i) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", late[i].second, age_text(late[i].first));
  }
  if (late.size() > kMostNames) text += fmt::format(" and {} more", late.size() - kMostNames);
  return text;
}

// The same for other languages. `group` is empty or "less_late".
void list(const LateHandlers& late, const std::string& group, Finding& finding) {
  for (std::size_t i = 0; i < std::min(kMostNames, late.size()); ++i) {
    FilledIn& item = finding.items.emplace_back(FilledIn{{"name", late[i].second}, {"for_ms", ms_text(late[i].first)}});
    if (!group.empty()) item.emplace("group", group);
  }
  if (late.size() > kMostNames) {
    finding.values.emplace(group.empty() ? "more" : "more_" + group, std::to_string(late.size() - kMostNames));
  }
}

Finding instances(const ClusterView& cluster) {
  const std::size_t count = std::max<std::size_t>(1, cluster.members.size());
  const std::string words = fmt::format("{}, by {}", count, cluster.source);
  const FilledIn values{{"count", std::to_string(count)}, {"source", std::string{cluster.source}}};
  if (cluster.trusted) return {Health::ok, "instances", words, "", "instances", values};
  return {Health::warn,
          "instances",
          words + "; the list is not trusted at the moment",
          "check the daemon's log for the last error of the registry or the store",
          "instances_untrusted",
          values};
}

Finding late(Namespace& name_space, const Lateness& bounds) {
  const auto found = storage::look_for_late_tasks(name_space.core().store(), name_space.name());
  if (!found) {
    const std::string error = to_string(found.error());
    return {Health::fail,      kLate, "unknown: " + error, "check whether the daemon reaches its store", "late_unknown",
            {{"error", error}}};
  }
  return late_tasks({found->handlers, found->complete}, bounds,
                    "see whether workers fetch them: `easyretry handlers`, `easyretry cluster`");
}

// From the counts, which need no search. They cover whole days, so this covers at least 24 h.
std::int64_t quarantined_since(std::chrono::sys_days day, const Counts& counts) {
  std::int64_t sum = 0;
  for (const auto& [name, handler] : counts) {
    for (auto days = handler.days.lower_bound(day); days != handler.days.end(); ++days) {
      const auto found = days->second.ended.find(Outcome::quarantined);
      if (found != days->second.ended.end()) sum += found->second;
    }
  }
  return sum;
}

Finding quarantined(engine::Core& core, const Counts& counts) {
  constexpr Millis kLongestSearch{100};
  const TimePoint from = core.store_now() - kRecent;
  const std::int64_t most = quarantined_since(std::chrono::floor<std::chrono::days>(from), counts);
  const Finding none{Health::ok, "quarantined", "none in 24 h", "", "quarantined_none"};
  if (most == 0) return none;
  TaskQuery query{.finished = true, .outcome = Outcome::quarantined, .limit = kMostCounted};
  query.order = ListOrder::newest_first;
  query.finished_at.from = from;
  const storage::ListPage found = value_or_throw(core.page(query, kLongestSearch));
  if (found.records.empty() && !found.next) return none;
  const std::string number = std::to_string(found.next ? most : static_cast<std::int64_t>(found.records.size()));
  return {Health::warn,
          "quarantined",
          fmt::format("{}{} in 24 h: they killed their worker, or it died while it ran them",
                      found.next ? "up to " : "", number),
          "see `easyretry history list --outcome quarantined --finished-from 1d`; then `easyretry tasks requeue ID`",
          found.next ? "quarantined_up_to" : "quarantined",
          {{"count", number}}};
}

// Handlers that have tasks or instances, are known here, or are paused.
Counts all_handlers(Namespace& name_space, const ServedHandlers& served_handlers) {
  Counts counts = value_or_throw(name_space.core().counts());
  for (const std::string& name : served_handlers.names()) counts.try_emplace(name);
  for (const std::string& name : name_space.core().handlers().snapshot()->names()) counts.try_emplace(name);
  return counts;
}

Finding handlers(const Counts& counts, const ServedHandlers& served_handlers, bool runs_tasks) {
  std::vector<std::string> unserved;
  for (const auto& [name, tally] : counts) {
    if (runs_tasks && tally.live() > 0 && !served_handlers.is_served(name)) unserved.push_back(name);
  }
  if (unserved.empty()) {
    const std::string known = std::to_string(counts.size());
    return {Health::ok, "handlers", known + " known", "", "handlers_known", {{"count", known}}};
  }
  const auto meant = names_meant(unserved, served_handlers.names());
  std::string all;
  Items items;
  for (const std::string& name : unserved) {
    const auto near = meant.find(name);
    FilledIn& item = items.emplace_back(FilledIn{{"name", name}, {"tasks", std::to_string(counts.at(name).live())}});
    if (near != meant.end()) item.emplace("did_you_mean", near->second);
    all += fmt::format("{}{} ({} tasks{})", all.empty() ? "" : ", ", name, counts.at(name).live(),
                       near == meant.end() ? "" : "; did you mean " + near->second + "?");
  }
  return {Health::warn,
          "handlers",
          "served by no instance or worker: " + all,
          "start the program that has them, or correct the name where they are submitted",
          "handlers_unserved",
          {},
          std::move(items)};
}

Finding paused(engine::Core& core, const Counts& counts) {
  std::string all;
  Items items;
  bool has_live_tasks = false;
  for (const PausedHandler& one : value_or_throw(core.paused()).handlers) {
    const auto tally = counts.find(one.handler);
    const std::int64_t live = tally == counts.end() ? 0 : tally->second.live();
    const Millis age = core.store_now() - one.since;
    all += fmt::format("{}{} (since {}, {} tasks{}{})", all.empty() ? "" : ", ", one.handler, age_text(age), live,
                       one.why.empty() ? "" : ": ", one.why);
    items.push_back(
        {{"name", one.handler}, {"for_ms", ms_text(age)}, {"tasks", std::to_string(live)}, {"why", one.why}});
    has_live_tasks |= live > 0;
  }
  if (all.empty()) return {Health::ok, "paused", "no handler", "", "paused_none"};
  const std::string first = items.front().at("name");
  const std::string todo =
      has_live_tasks ? fmt::format("to run them again: `easyretry handlers resume {}`", first) : std::string{};
  return {
      has_live_tasks ? Health::warn : Health::ok, "paused", all, todo, "paused", {{"first", first}}, std::move(items)};
}

Finding open_circuits(const std::vector<CircuitInfo>& circuits, TimePoint now) {
  std::string open;
  std::string ordered;
  Items items;
  for (const CircuitInfo& one : circuits) {
    if (one.order) ordered = one.name;
    if (one.state != CircuitState::open) continue;
    const std::string rate = fmt::format("{:.3g}", one.starts_per_second.value_or(0));
    const std::string starts = one.order ? "by hand" : fmt::format("about {} starts a second", rate);
    open += fmt::format("{}{} (for {}, {})", open.empty() ? "" : ", ", one.name, age_text(now - *one.since), starts);
    FilledIn& item = items.emplace_back(FilledIn{{"name", one.name}, {"for_ms", ms_text(now - *one.since)}});
    if (!one.order) item.emplace("starts_per_second", rate);
  }
  if (open.empty()) return {Health::ok, "circuits", "none is open", "", "circuits_none"};
  const std::string reset =
      ordered.empty() ? "" : fmt::format("; one that was opened by hand needs `easyretry circuits reset {}`", ordered);
  return {Health::warn,
          "circuits",
          "open: " + open,
          "see whether what these handlers call is up: `easyretry circuits`; a circuit closes by itself" + reset,
          ordered.empty() ? "circuits_open" : "circuits_held_open",
          {{"ordered", ordered}},
          std::move(items)};
}

// A limit that holds tasks back works as intended, unless no task may start at all.
Finding limits(const std::vector<LimitInfo>& all, TimePoint now) {
  std::string holding;
  Items items;
  bool nothing_starts = false;
  for (const LimitInfo& one : all) {
    if (!one.holds_since) continue;
    holding += fmt::format("{}{} (for {}, {} due tasks)", holding.empty() ? "" : ", ", one.subject,
                           age_text(now - *one.holds_since), one.held_tasks);
    const std::size_t space = one.subject.find(' ');  // "handler payment.pay"
    items.push_back({{"kind", one.subject.substr(0, space)},
                     {"name", one.subject.substr(space + 1)},
                     {"for_ms", ms_text(now - *one.holds_since)},
                     {"tasks", std::to_string(one.held_tasks)}});
    nothing_starts |= one.running == 0;
  }
  if (holding.empty()) return {Health::ok, "limits", "none holds tasks back", "", "limits_none"};
  const std::string what = "hold tasks back: " + holding;
  if (!nothing_starts) return {Health::ok, "limits", what, "", "limits_hold", {}, std::move(items)};
  return {Health::warn,
          "limits",
          what,
          "a limit of 0 running tasks starts nothing: `easyretry limits` shows which one it is",
          "limits_nothing_starts",
          {},
          std::move(items)};
}

}  // namespace

std::string_view to_string(Health health) {
  return health == Health::ok ? "ok" : health == Health::warn ? "warn" : "fail";
}

Finding late_tasks(const Late& late, const Lateness& bounds, const std::string& todo) {
  const Millis bound = std::min(bounds.warn_above, bounds.fail_above);
  LateHandlers handlers;
  for (const auto& [name, ms] : late.handlers) {
    if (ms > bound) handlers.emplace_back(ms, name);
  }
  if (handlers.empty() && late.complete) return {Health::ok, kLate, "none", "", "late_none"};
  if (handlers.empty()) {
    return {Health::fail, kLate, "not all were looked at: very many tasks of paused handlers are due before them",
            "resume or cancel those: `easyretry handlers` lists them", "late_incomplete"};
  }
  std::sort(handlers.begin(), handlers.end(), std::greater<>{});
  const bool fails = handlers.front().first > bounds.fail_above;
  const auto less_late =
      fails ? std::ranges::find_if(handlers, [&](const auto& one) { return one.first <= bounds.fail_above; })
            : handlers.end();
  const Millis above = fails ? bounds.fail_above : bound;
  const LateHandlers latest{handlers.begin(), less_late};
  const LateHandlers others{less_late, handlers.end()};
  Finding finding{fails ? Health::fail : Health::warn,
                  kLate,
                  fmt::format("due for more than {} and not running: {}", age_text(above), listed(latest)),
                  todo,
                  others.empty() ? "late" : "late_and_less_late",
                  {{"above_ms", ms_text(above)}}};
  if (!others.empty()) finding.what += ", and, less late, " + listed(others);
  list(latest, "", finding);
  list(others, "less_late", finding);
  return finding;
}

Findings check_instances(Namespace& name_space, const ClusterView& cluster, const Lateness& bounds) {
  return {instances(cluster), late(name_space, bounds)};
}

Findings check_tasks(Namespace& name_space, bool runs_tasks) {
  const ServedHandlers served_handlers{name_space};
  const Counts counts = all_handlers(name_space, served_handlers);
  engine::Core& core = name_space.core();
  Findings findings{quarantined(core, counts), handlers(counts, served_handlers, runs_tasks), paused(core, counts)};
  if (const auto circuits = core.circuits(); !circuits.empty())
    findings.push_back(open_circuits(circuits, core.store_now()));
  if (const auto known = core.limits(); !known.empty()) findings.push_back(limits(known, core.store_now()));
  return findings;
}

}  // namespace easyretry::server
