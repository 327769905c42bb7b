#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <easyretry/time.h>

#include "base/time_text.h"
#include "doctor/checks.h"
#include "printing/text.h"

namespace easyretry::app {
namespace {

using namespace std::chrono_literals;

constexpr Millis kRecent = 24h;
constexpr Millis kLate = 30s;
constexpr const char* kMostTasks = "1000";  // in one answer

Finding instances(Service& daemon) {
  const nlohmann::json cluster = daemon.ask({.path = {"cluster"}});
  const std::size_t count = std::max<std::size_t>(1, cluster.at("members").size());
  const std::string words = fmt::format("{}, by {}", count, cluster.value("source", ""));
  if (cluster.value("trusted", true)) return {Health::ok, "instances", words};
  return {Health::warn, "instances", words + "; the list is not trusted at the moment",
          "check the daemon's log for the last error of the registry or the store"};
}

std::set<std::string> paused_handlers(Service& service) {
  std::set<std::string> names;
  for (const nlohmann::json& handler : service.ask({.path = {"handlers"}}).at("handlers")) {
    if (handler.contains("paused")) names.insert(handler.value("name", ""));
  }
  return names;
}

// Looks at the oldest tasks, because those that are very late are among them. Tasks of paused handlers are late on
// purpose.
Finding late_tasks(Service& daemon) {
  const TimePoint now = system_clock().now();
  const nlohmann::json page = daemon.ask({.path = {"tasks"}, .query = {{"state", "pending"}, {"limit", kMostTasks}}});
  std::size_t count = 0;
  Millis latest{0};
  const std::set<std::string> paused = paused_handlers(daemon);
  for (const nlohmann::json& task : page.at("tasks")) {
    if (paused.contains(task.value("handler", ""))) continue;
    const Millis late = task.contains("next_at") ? now - base::parse_time(task.value("next_at", "")) : Millis{0};
    if (late > kLate) ++count;
    latest = std::max(latest, late);
  }
  if (count == 0) return {Health::ok, "late tasks", "none"};
  return {Health::warn, "late tasks",
          fmt::format("{} pending for longer than {}, one for {}", count, age_text(kLate), age_text(latest)),
          "see whether workers fetch them: `easyretry handlers`, `easyretry tasks list --state pending`"};
}

Finding quarantined(Service& service) {
  const std::string since = base::to_text(system_clock().now() - kRecent);
  const nlohmann::json page = service.ask(
      {.path = {"history"}, .query = {{"outcome", "quarantined"}, {"finished_from", since}, {"limit", kMostTasks}}});
  const std::size_t count = page.at("tasks").size();
  if (count == 0) return {Health::ok, "quarantined", "none in 24 h"};
  return {Health::warn, "quarantined",
          fmt::format("{}{} in 24 h: they killed their worker, or it died while it ran them", count,
                      page.contains("next") ? " or more" : ""),
          "see `easyretry history list --outcome quarantined --finished-from 1d`; then `easyretry tasks requeue ID`"};
}

Finding handlers(Service& service) {
  const nlohmann::json answer = service.ask({.path = {"handlers"}});
  std::string unserved;
  for (const nlohmann::json& handler : answer.at("handlers")) {
    if (handler.value("served", true) || handler.value("live", 0) == 0) continue;
    unserved += fmt::format("{}{} ({} tasks)", unserved.empty() ? "" : ", ", handler.value("name", ""),
                            handler.value("live", 0));
  }
  if (unserved.empty()) return {Health::ok, "handlers", fmt::format("{} known", answer.at("handlers").size())};
  return {Health::warn, "handlers", "not known to this instance: " + unserved,
          "start the program that has them; a worker that fetches them makes them known"};
}

// "payment.pay (since 3 h, 120 tasks: gateway down)"
std::string described(const nlohmann::json& handler) {
  const nlohmann::json& paused = handler.at("paused");
  const Millis age = system_clock().now() - base::parse_time(paused.value("since", ""));
  const std::string why = paused.value("why", "");
  return fmt::format("{} (since {}, {} tasks{}{})", handler.value("name", ""), age_text(age), handler.value("live", 0),
                     why.empty() ? "" : ": ", why);
}

Finding paused(Service& service) {
  const nlohmann::json answer = service.ask({.path = {"handlers"}});
  std::string all;
  std::string first;
  bool has_live_tasks = false;
  for (const nlohmann::json& handler : answer.at("handlers")) {
    if (!handler.contains("paused")) continue;
    all += (all.empty() ? "" : ", ") + described(handler);
    if (first.empty()) first = handler.value("name", "");
    has_live_tasks |= handler.value("live", 0) > 0;
  }
  if (all.empty()) return {Health::ok, "paused", "no handler"};
  if (!has_live_tasks) return {Health::ok, "paused", all};
  return {Health::warn, "paused", all, fmt::format("to run them again: `easyretry handlers resume {}`", first)};
}

}  // namespace

Findings check_daemon(Service& daemon) {
  return {instances(daemon), late_tasks(daemon)};
}

Findings check_tasks(Service& service) {
  return {quarantined(service), handlers(service), paused(service)};
}

}  // namespace easyretry::app
