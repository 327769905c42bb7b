#include "engine/brake_watch.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/split.h"
#include "engine/context.h"

namespace easyretry::engine {
namespace {

// These cannot occur in a number.
constexpr char kBetweenNumbers = ' ';
constexpr char kBetweenBrakes = ';';
constexpr char kBetweenNames = '\x1f';

// Keeps a row below the 4,000 bytes that every store accepts.
constexpr std::size_t kBrakesInARow = 35;

// Seats that cannot be divided go to other instances after this time.
constexpr Millis kTurn{10'000};

constexpr std::size_t kTakenBackAtOnce = 5;

// Once a second, and often enough for short leases.
Millis exchange_every(Millis lease) {
  return std::min(Millis{1000}, lease / 30);
}

std::uint64_t place_in_turn(std::string_view owner, TimePoint now) {
  return brake_hash(fmt::format("{}{}", now.time_since_epoch() / kTurn, owner));
}

std::string_view owner_of(std::string_view node) {
  return node.substr(0, node.find(kBetweenNames));
}

}  // namespace

// FNV-1a: the same in every process, whatever its compiler.
std::uint64_t brake_hash(std::string_view subject) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char c : subject) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  return hash;
}

// The subject, seats, wishes for seats, shares, wishes for shares, and when it had no starts left.
std::string brake_text(const BrakeReports& reports, const StoreTime& time) {
  std::string text;
  for (const auto& [hash, report] : reports) {
    const std::int64_t empty_at =
        report.empty_at == Instant::min() ? 0 : time.at(report.empty_at).time_since_epoch().count();
    text += fmt::format("{}{} {} {} {} {} {}", text.empty() ? "" : std::string{kBetweenBrakes}, hash,
                        report.seats.seats, report.seats.wishes, report.shares.seats, report.shares.wishes, empty_at);
  }
  return text;
}

BrakeReports parse_brakes(std::string_view text, const StoreTime& time) {
  BrakeReports reports;
  for (const std::string_view one : base::split(text, kBetweenBrakes)) {
    std::vector<std::uint64_t> numbers;
    for (const std::string_view field : base::split(one, kBetweenNumbers)) {
      std::uint64_t number = 0;
      const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
      if (error == std::errc{} && end == field.data() + field.size()) numbers.push_back(number);
    }
    if (numbers.size() != 6) continue;
    const auto at = [&](std::size_t i) { return static_cast<std::int64_t>(numbers[i]); };
    BrakeReport& report = reports[numbers[0]];
    report.seats = {at(1), at(2)};
    report.shares = {at(3), at(4)};
    if (numbers[5] != 0) report.empty_at = time.when(TimePoint{Millis{at(5)}});
  }
  return reports;
}

Step BrakeWatch::step() {
  const auto table = context_.handlers.snapshot();
  if (table->brakes.empty() && told_.empty()) return {};
  const Instant now = context_.clock.steady();
  bool wanted = false;
  for (const auto& [subject, brake] : table->brakes) wanted |= brake->take_wanted();
  if (!context_.store.info().shared) {
    for (const auto& [subject, brake] : table->brakes) brake->alone();
    if (wanted) context_.claiming.notify();
    return {wanted, Instant::max()};
  }
  // At a limited pace while other instances have the wanted seats.
  const Millis pace = exchange_every(context_.options.lease);
  if (wanted) next_ = std::min(next_, asked_ == Instant::min() ? now : asked_ + pace / 10);
  if (now < next_) return {false, next_};
  const bool anything = exchange(*table, now);
  if (anything) asked_ = now;
  const bool soon =
      answered_ && std::ranges::any_of(table->brakes, [](const auto& brake) { return brake.second->unsettled(); });
  next_ = anything ? context_.clock.steady() + (soon ? pace / 10 : pace) : Instant::max();
  if (anything) context_.claiming.notify();
  return {anything, next_};
}

bool BrakeWatch::exchange(const HandlerTable& table, Instant now) {
  answered_ = false;
  std::map<std::size_t, BrakeReports> reports;
  bool more = false;
  for (const auto& [subject, brake] : table.brakes) {
    const auto report = brake->announce(now);
    if (!report) continue;
    reports[row_of(subject)].emplace(brake_hash(subject), *report);
    more |= brake->asks_for_more();
  }
  std::map<std::size_t, std::string> rows;
  std::set<std::string> nodes;
  for (const auto& [row, here] : reports) {
    rows.emplace(row, brake_text(here, context_.store_time));
    nodes.insert(node(row));
  }
  if (rows.empty()) {
    take_back(nodes);
    return false;
  }
  for (const std::string& node : nodes) told_[node] = now;
  std::optional<storage::BeatReply> last;
  const Brake::Times living = times(now);
  for (const auto& [row, text] : rows) {
    auto reply = context_.ask(StoreVerb::beat, [&](storage::Store& store) {
      return store.beat({.name_space = space(),
                         .node = node(row),
                         .ttl = living.lives,
                         .says = text,
                         .promise = storage::Promise::kept});
    });
    if (!reply) {
      ++generation_;
      return true;
    }
    last = *std::move(reply);
  }
  if (more) {
    auto reply = context_.ask(StoreVerb::beat, [&](storage::Store& store) { return store.members(space()); });
    if (!reply) return true;
    last = *std::move(reply);
  }
  answered_ = true;
  hear(table, {now, context_.clock.steady(), more, living}, *last);
  take_back(nodes);
  return true;
}

// A few at a time: after a long failure there are many, and they expire by themselves. A request to take one back may
// fail now and still arrive later, so its name is not used again.
void BrakeWatch::take_back(const std::set<std::string>& all_but) {
  const Instant now = context_.clock.steady();
  std::erase_if(told_, [&](const auto& one) { return now - one.second > times(now).lives; });
  std::vector<std::string> old;
  for (const auto& [node, said] : told_) {
    if (!all_but.contains(node) && old.size() < kTakenBackAtOnce) old.push_back(node);
  }
  for (const std::string& node : old) {
    if (!context_.store.leave(space(), node)) {
      ++generation_;
      return;
    }
    told_.erase(node);
  }
}

void BrakeWatch::hear(const HandlerTable& table, const Brake::Heard& when, const storage::BeatReply& reply) {
  std::map<std::uint64_t, std::map<std::string, BrakeReport, std::less<>>> others;  // by brake and owner
  const std::uint64_t my_place = place_in_turn(context_.owner, reply.now);
  for (const Member& member : reply.members) {
    const std::string_view owner = owner_of(member.node);
    if (owner == context_.owner) continue;
    for (const auto& [hash, report] : parse_brakes(member.says, context_.store_time)) {
      BrakeReport& sum = others[hash][std::string{owner}];  // it may also have announced under an older name
      sum.seats.seats += report.seats.seats;
      sum.seats.wishes = std::max(sum.seats.wishes, report.seats.wishes);
      sum.shares.seats += report.shares.seats;
      sum.shares.wishes = std::max(sum.shares.wishes, report.shares.wishes);
      sum.empty_at = std::max(sum.empty_at, report.empty_at);
      sum.seats.first = sum.shares.first = place_in_turn(owner, reply.now) < my_place;
    }
  }
  for (const auto& [subject, brake] : table.brakes) {
    std::vector<BrakeReport> theirs;
    for (const auto& [owner, report] : others[brake_hash(subject)]) theirs.push_back(report);
    brake->heard(when, theirs);
  }
}

void BrakeWatch::leave() {
  take_back({});
}

// Remote workers may have longer leases than this instance.
Brake::Times BrakeWatch::times(Instant now) const {
  Brake::Times times = Brake::times(context_.options.lease);
  const Instant lent = context_.lent_until;
  if (lent > now) times.lives = std::max(times.lives, std::chrono::ceil<Millis>(lent - now));
  return times;
}

std::string BrakeWatch::space() const {
  return "limits" + std::string{kBetweenNames} + context_.options.name_space;
}

std::string BrakeWatch::node(std::size_t row) const {
  return fmt::format("{}{}{}{}{}", context_.owner, kBetweenNames, row, kBetweenNames, generation_);
}

std::size_t BrakeWatch::row_of(const std::string& subject) {
  return places_.try_emplace(subject, places_.size()).first->second / kBrakesInARow;
}

}  // namespace easyretry::engine
