#include "sim/journal.h"

#include <cstdio>
#include <utility>

#include "sim/clocks.h"

namespace easyretry::sim {
namespace {

std::string_view to_string(task::Settlement::Kind kind) {
  switch (kind) {
    case task::Settlement::Kind::finish: return "finish";
    case task::Settlement::Kind::retry: return "retry";
    case task::Settlement::Kind::advance: return "advance";
    case task::Settlement::Kind::hand_back: return "hand_back";
  }
  return "?";
}

std::string_view to_string(Code code) {
  switch (code) {
    case Code::handler: return "handler";
    case Code::on_success: return "on_success";
    case Code::on_final_failure: return "on_final_failure";
  }
  return "?";
}

std::string seconds(TimePoint time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>((time - kWorldBegan).count()) / 1000);
  return text;
}

std::string name(TaskId id, std::int64_t version) {
  return easyretry::to_string(id) + " v" + std::to_string(version);
}

struct Text {
  std::string operator()(const Inserted& e) const {
    return "stored " + name(e.id, e.version) + " key " + e.key + " for " + e.handler + ", due " + seconds(e.due);
  }
  std::string operator()(const Claimed& e) const {
    return "claimed " + name(e.id, e.version) + " with v" + std::to_string(e.ticket) + " until " +
           seconds(e.lease_until) + ", delivery " + std::to_string(e.deliveries);
  }
  std::string operator()(const Renewed& e) const {
    return "renewed " + name(e.id, e.version) + " until " + seconds(e.lease_until);
  }
  std::string operator()(const Settled& e) const {
    return "settled " + name(e.id, e.version) + " " + std::string{to_string(e.kind)} + " " +
           std::string{easyretry::to_string(e.outcome)} + " delay " + std::to_string(e.delay.count()) + " ms";
  }
  std::string operator()(const Revised& e) const {
    return "revised " + name(e.id, e.version) + (e.delay ? " delay " + std::to_string(e.delay->count()) + " ms" : "");
  }
  std::string operator()(const EndedByUser& e) const {
    return "a user ended " + easyretry::to_string(e.ending.id) + " as " +
           std::string{easyretry::to_string(e.ending.outcome)} + (e.ending.tell ? ", to be told" : "");
  }
  std::string operator()(const EndAnswered& e) const {
    return easyretry::to_string(e.id) + " was said to be ended by a user";
  }
  std::string operator()(const Requeued& e) const {
    return "requeued " + easyretry::to_string(e.from) + " as " + easyretry::to_string(e.id);
  }
  std::string operator()(const Refused& e) const { return std::string{e.verb} + " refused " + name(e.id, e.version); }
  std::string operator()(const RenewTried& e) const { return "tries to renew " + name(e.id, e.version); }
  std::string operator()(const Acked& e) const { return "acked " + easyretry::to_string(e.id) + " key " + e.key; }
  std::string operator()(const Began& e) const {
    return std::string{to_string(e.code)} + " begins " + name(e.id, e.version) + ", counted " +
           std::to_string(e.counted);
  }
  std::string operator()(const Ended& e) const {
    return std::string{to_string(e.code)} + " ends " + name(e.id, e.version) +
           (e.verdict == Verdict::well ? " well" : " failed");
  }
  std::string operator()(const Born& e) const { return "starts, life " + std::to_string(e.life); }
  std::string operator()(const Died& e) const { return e.how == Death::crashed ? "crashes" : "has drained"; }
  std::string operator()(const Paused& e) const { return "is paused until " + seconds(e.until); }
  std::string operator()(const Hit& e) const {
    return "fault: " + std::string{to_string(e.fault)} + (e.verb.empty() ? "" : " " + std::string{e.verb});
  }
  std::string operator()(const Wrong& e) const { return "WRONG (" + e.invariant + "): " + e.what; }
  std::string operator()(const HandlerPaused& e) const { return e.handler + " is paused by an operator"; }
  std::string operator()(const HandlerResumed& e) const { return e.handler + " is resumed"; }
  std::string operator()(const Calm&) const { return "calm"; }
};

// How many tasks more there are to be done.
struct Opened {
  int operator()(const Inserted&) const { return 1; }
  int operator()(const Requeued&) const { return 1; }
  int operator()(const Settled& e) const { return e.kind == task::Settlement::Kind::finish ? -1 : 0; }
  int operator()(const EndedByUser& e) const { return e.ending.tell ? 0 : -1; }
  template <class Other>
  int operator()(const Other&) const {
    return 0;
  }
};

}  // namespace

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::unavailable: return "unavailable";
    case Fault::request_lost: return "request lost";
    case Fault::late: return "request carried out late";
    case Fault::reply_lost: return "reply lost";
    case Fault::slow: return "slow call";
    case Fault::death_before: return "death before";
    case Fault::death_after: return "death after";
    case Fault::outage: return "store down";
    case Fault::partition: return "cut off from the store";
    case Fault::views: return "views disagree";
  }
  return "?";
}

std::string to_text(const Entry& entry) {
  const std::string who = entry.instance < 0 ? "--" : "i" + std::to_string(entry.instance);
  return seconds(entry.at) + " " + who + " " + std::visit(Text{}, entry.what);
}

std::optional<TaskId> task_of(const Entry& entry) {
  return std::visit(
      [](const auto& what) -> std::optional<TaskId> {
        if constexpr (requires { what.id; }) return what.id;
        return std::nullopt;
      },
      entry.what);
}

void Journal::write(int instance, What what) {
  open_tasks_ += std::visit(Opened{}, what);
  entries_.push_back({clock_.now(), instance, std::move(what)});
  if (on_entry) on_entry(entries_.back());
}

std::uint64_t Journal::hash() const {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const Entry& entry : entries_) {
    for (const char c : to_text(entry)) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return hash;
}

}  // namespace easyretry::sim
