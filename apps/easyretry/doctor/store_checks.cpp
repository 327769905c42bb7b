#include <algorithm>

#include <fmt/format.h>

#include "base/url.h"
#include "cluster/open_membership.h"
#include "doctor/checks.h"
#include "printing/text.h"
#include "storage/lag.h"
#include "storage/open.h"

namespace easyretry::app {
namespace {

using storage::Store;

constexpr Millis kClocksMayDiffer{1000};
constexpr std::size_t kTasksPerShard = 10;
constexpr int kMuchLater = 10;  // times the grace

std::string remedy_for(const std::string& url, const Error& error) {
  if (!url.starts_with("sqlite:") || error.code != Errc::unavailable) {
    return "check whether the server is running and can be reached from here";
  }
  if (error.detail.find("is in use by") != std::string::npos) {
    return "if `easyretry serve` is using it, ask the daemon: leave out --store";
  }
  return "check the disk, its space and the system log; acknowledged tasks are kept, and the store opens once the disk "
         "works";
}

// Null if the store cannot be opened; a finding says why.
std::unique_ptr<Store> open(const Config& config, Findings& findings) {
  constexpr const char* kCheck = "store";
  const std::string url = config.store_url();
  try {
    const auto settings = storage::stored_settings(url);
    if (!settings) {
      findings.push_back({Health::fail, kCheck, "there is no EasyRetry store at " + base::without_password(url),
                          "check the url; the first instance that starts creates it"});
      return nullptr;
    }
    auto store = storage::open_store(url, system_clock());
    findings.push_back({Health::ok, kCheck, base::without_password(url) + " answers"});
    findings.push_back(
        {Health::ok, "schema", fmt::format("current; {} shards, layout {}", settings->total_shards, settings->layout)});
    return store;
  } catch (const StoreError& e) {
    findings.push_back({Health::fail, kCheck, e.error().detail, remedy_for(url, e.error())});
  } catch (const std::invalid_argument& e) {
    findings.push_back({Health::fail, kCheck, e.what(), "correct the url"});
  }
  return nullptr;
}

Finding clock(Store& store, const std::string& space) {
  constexpr const char* kCheck = "clock";
  const storage::ShardCursor any;
  const TimePoint before = system_clock().now();
  const auto reply = store.load({.space = space, .from = {&any, 1}, .limit = 1});
  const TimePoint after = system_clock().now();
  if (!reply) return {Health::fail, kCheck, reply.error().detail, "check the log of the store's server"};
  const Millis ahead = before > reply->now ? before - reply->now : after < reply->now ? after - reply->now : Millis{0};
  if (std::chrono::abs(ahead) <= kClocksMayDiffer) return {Health::ok, kCheck, "within a second of the store's"};
  return {Health::warn, kCheck,
          fmt::format("{} {} the store's, which decides when tasks are due", age_text(std::chrono::abs(ahead)),
                      ahead > Millis{0} ? "ahead of" : "behind"),
          "synchronise both clocks with NTP; until then, times in logs do not match"};
}

Finding durability(const storage::StoreInfo& info) {
  const std::string words = "an acknowledged task survives " + info.durability.words;
  if (!info.durability.worth_a_warning) return {Health::ok, "durability", words};
  return {Health::warn, "durability", words, "see docs/redis.md and docs/databases.md for its settings"};
}

void instances(Store& store, const Config& config, Findings& findings) {
  constexpr const char* kCheck = "instances";
  const auto choice = cluster::parse_membership(config.engine.membership);
  using Kind = cluster::MembershipChoice::Kind;
  if (choice.kind == Kind::alone || (choice.kind == Kind::store && !store.info().shared)) {
    findings.push_back({Health::ok, kCheck, "only one, because of the configuration or the kind of store"});
    return;
  }
  const auto seen = cluster::list_members(choice, store, config.engine.space);
  if (!seen) {
    findings.push_back(
        {Health::fail, kCheck, seen.error().detail, "see whether `membership` is right and the registry answers"});
    return;
  }
  for (const cluster::Refused& one : seen->list.refused) {
    findings.push_back({Health::warn, kCheck, one.who + " is not a member: " + one.why, "check its log"});
  }
  const std::size_t count = seen->list.members.size();
  findings.push_back(count > 0
                         ? Finding{Health::ok, kCheck, fmt::format("{}, by {}", count, seen->source)}
                         : Finding{Health::warn, kCheck, "no instance is running for namespace " + config.engine.space,
                                   "start an instance, or `easyretry serve`; is --space right?"});
}

Finding lateness(Store& store, const Config& config) {
  constexpr const char* kCheck = "late tasks";
  auto lag = storage::look_for_lag(store, config.engine.space, kTasksPerShard);
  if (!lag) return {Health::fail, kCheck, lag.error().detail, "check the log of the store's server"};
  const auto paused = store.paused(config.engine.space);
  if (!paused) return {Health::fail, kCheck, paused.error().detail, "check the log of the store's server"};
  for (const PausedHandler& one : paused->handlers) lag->handlers.erase(one.handler);  // late on purpose
  Millis latest{0};
  for (const auto& [name, late] : lag->handlers) latest = std::max(latest, late);
  if (latest <= config.engine.grace) return {Health::ok, kCheck, "none"};
  std::string handlers;
  for (const auto& [name, late] : lag->handlers) {
    if (late > config.engine.grace) handlers += (handlers.empty() ? "" : ", ") + name;
  }
  return {
      latest > config.engine.grace * kMuchLater ? Health::fail : Health::warn, kCheck,
      fmt::format("due for {} and not running: {}", age_text(latest), handlers),
      "no instance is running, there are too few workers, or no instance has these handlers: see `easyretry cluster`"};
}

}  // namespace

Findings check_store(const Config& config) {
  Findings findings;
  const auto store = open(config, findings);
  if (!store) return findings;
  findings.push_back(clock(*store, config.engine.space));
  findings.push_back(durability(store->info()));
  instances(*store, config, findings);
  findings.push_back(lateness(*store, config));
  return findings;
}

}  // namespace easyretry::app
