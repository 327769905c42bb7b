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

// The advice for each kind of store.
struct Advice {
  std::string_view scheme;
  const char* not_opened;
  const char* not_answering;
  const char* durability;
};
constexpr Advice kSqlite{
    "sqlite:",
    "check the disk, its space and the system log; acknowledged tasks are kept, and the store opens "
    "once the disk works",
    "check the disk, its space and the system log", "see docs/databases.md for the url's options"};
constexpr Advice kServers[]{
    {"postgres", "check whether PostgreSQL is running and can be reached from here", "check the log of PostgreSQL",
     "set fsync and synchronous_commit of PostgreSQL to on: see docs/databases.md"},
    {"mysql:", "check whether the MySQL or MariaDB server is running and can be reached from here",
     "check the error log of MySQL or MariaDB", "set innodb_flush_log_at_trx_commit to 1: see docs/databases.md"},
    {"redis", "check whether Redis is running and can be reached from here", "check the log of Redis",
     "set appendonly and appendfsync of Redis: see docs/redis.md"},
};

const Advice& advice_for(const std::string& url) {
  for (const Advice& one : kServers) {
    if (url.starts_with(one.scheme)) return one;
  }
  return kSqlite;
}

std::string remedy_for(const std::string& url, const Error& error) {
  if (url.starts_with(kSqlite.scheme) && error.detail.find("is in use by") != std::string::npos) {
    return "if `easyretry serve` is using it, ask the daemon: leave out --store";
  }
  return advice_for(url).not_opened;
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

Finding clock(Store& store, const std::string& name_space, const Advice& advice) {
  constexpr const char* kCheck = "clock";
  const storage::ShardCursor any;
  const TimePoint before = system_clock().now();
  const auto reply = store.load({.name_space = name_space, .from = {&any, 1}, .limit = 1});
  const TimePoint after = system_clock().now();
  if (!reply) return {Health::fail, kCheck, reply.error().detail, advice.not_answering};
  const Millis ahead = before > reply->now ? before - reply->now : after < reply->now ? after - reply->now : Millis{0};
  if (std::chrono::abs(ahead) <= kClocksMayDiffer) return {Health::ok, kCheck, "within a second of the store's"};
  return {Health::warn, kCheck,
          fmt::format("{} {} the store's, which decides when tasks are due", age_text(std::chrono::abs(ahead)),
                      ahead > Millis{0} ? "ahead of" : "behind"),
          "synchronise both clocks with NTP; until then, times in logs do not match"};
}

Finding durability(const storage::StoreInfo& info, const Advice& advice) {
  const std::string words = "an acknowledged task survives " + info.durability.words;
  if (!info.durability.worth_a_warning) return {Health::ok, "durability", words};
  return {Health::warn, "durability", words, advice.durability};
}

void instances(Store& store, const Config& config, Findings& findings) {
  constexpr const char* kCheck = "instances";
  const auto choice = cluster::parse_membership(config.engine.membership);
  using Kind = cluster::MembershipChoice::Kind;
  if (choice.kind == Kind::alone || (choice.kind == Kind::store && !store.info().shared)) {
    findings.push_back({Health::ok, kCheck, "only one, because of the configuration or the kind of store"});
    return;
  }
  const auto seen = cluster::list_members(choice, store, config.engine.name_space);
  if (!seen) {
    findings.push_back(
        {Health::fail, kCheck, seen.error().detail, "see whether `membership` is right and the registry answers"});
    return;
  }
  for (const cluster::RefusedMember& one : seen->list.refused) {
    findings.push_back({Health::warn, kCheck, one.who + " is not a member: " + one.why, "check its log"});
  }
  const std::size_t count = seen->list.members.size();
  findings.push_back(count > 0 ? Finding{Health::ok, kCheck, fmt::format("{}, by {}", count, seen->source)}
                               : Finding{Health::warn, kCheck,
                                         "no instance is running for namespace " + config.engine.name_space,
                                         "start an instance, or `easyretry serve`; is --namespace right?"});
}

// A file belongs to one process, and this one has just opened it.
std::string todo_about_late_tasks(const Store& store, const std::string& where) {
  if (!store.info().shared) return "no instance has this store open: start the program that runs its tasks";
  return fmt::format(
      "no instance is running, there are too few workers, or no instance has these handlers: see `easyretry cluster{}`",
      where);
}

Finding lateness(Store& store, const Config& config, const Lateness& bounds, const std::string& where) {
  const auto late = storage::look_for_late_tasks(store, config.engine.name_space);
  if (!late) {
    return {Health::fail, "late tasks", late.error().detail, advice_for(config.store_url()).not_answering};
  }
  return server::late_tasks({late->handlers, late->complete}, bounds, todo_about_late_tasks(store, where));
}

}  // namespace

bool check_store(const Config& config, const Lateness& bounds, const std::string& where, Findings& findings) {
  const auto store = open(config, findings);
  if (!store) return false;
  const Advice& advice = advice_for(config.store_url());
  findings.push_back(clock(*store, config.engine.name_space, advice));
  findings.push_back(durability(store->info(), advice));
  if (!store->info().missing.empty()) findings.push_back({Health::ok, "missing", store->info().missing});
  instances(*store, config, findings);
  findings.push_back(lateness(*store, config, bounds, where));
  return true;
}

}  // namespace easyretry::app
