#include "engine/circuit_watch.h"

#include <charconv>

#include "base/split.h"
#include "engine/context.h"

namespace easyretry::engine {
namespace {

constexpr auto kExchangeEvery = std::chrono::seconds{1};

// As long as any window: sums of an instance that died stay until they are too old to count.
constexpr Millis kReportsLiveFor{60'000};

// Tasks start only if the last answer is no older than this. After a failure, the next request follows a second later.
constexpr auto kKnownFor = std::chrono::seconds{3};

// These cannot occur in a name.
constexpr char kBetweenFields = '\x1f';
constexpr char kBetweenReports = '\x1e';

// Every store accepts this much text from a member. Circuits that do not fit go into the reports of further, numbered
// members.
constexpr std::size_t kMostText = 4000;

storage::Beat beat_of(std::string_view name_space, std::string_view node, std::string_view says) {
  return {.name_space = name_space, .node = node, .ttl = kReportsLiveFor, .says = says};
}

std::int64_t millis_of(Instant instant, const StoreTime& time) {
  return instant == Instant::min() ? 0 : time.at(instant).time_since_epoch().count();
}

Instant instant_of(std::int64_t millis, const StoreTime& time) {
  return millis == 0 ? Instant::min() : time.when(TimePoint{Millis{millis}});
}

// name, state, made, since, held back at, rest until, then answered and failed of each second.
std::string report_text(const std::string& name, const CircuitReport& report, const StoreTime& time) {
  std::string text = name;
  const auto add = [&text](std::int64_t number) { text.append(1, kBetweenFields).append(std::to_string(number)); };
  add(report.state == CircuitState::open ? 1 : 0);
  add(millis_of(report.made, time));
  add(millis_of(report.since, time));
  add(millis_of(report.held_back_at, time));
  add(millis_of(report.rest_until, time));
  for (const AnswerSums& sums : report.seconds) {
    add(static_cast<std::int64_t>(sums.answered));
    add(static_cast<std::int64_t>(sums.failed));
  }
  return text;
}

// Empty: one of them is not a number.
std::vector<std::int64_t> numbers_of(std::span<const std::string_view> texts) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view text : texts) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0) return {};
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::vector<std::string> report_texts(const NamedReports& reports, const StoreTime& time, std::size_t most) {
  std::vector<std::string> texts;
  for (const auto& [name, report] : reports) {
    const std::string text = report_text(name, report, time);
    if (texts.empty() || texts.back().size() + 1 + text.size() > most) {
      texts.push_back(text);
    } else {
      texts.back().append(1, kBetweenReports).append(text);
    }
  }
  return texts;
}

NamedReports parse_reports(std::string_view text, const StoreTime& time) {
  constexpr std::size_t kFixed = 5;
  NamedReports reports;
  for (const std::string_view one : base::split(text, kBetweenReports)) {
    const auto fields = base::split(one, kBetweenFields);
    const auto numbers = numbers_of(std::span{fields}.subspan(1));
    if (numbers.size() < kFixed || (numbers.size() - kFixed) % 2 != 0 ||
        numbers.size() > kFixed + 2 * static_cast<std::size_t>(AnswerWindow::kSeconds)) {
      continue;
    }
    CircuitReport& report = reports[std::string{fields[0]}];
    report.state = numbers[0] == 1 ? CircuitState::open : CircuitState::closed;
    report.made = instant_of(numbers[1], time);
    report.since = instant_of(numbers[2], time);
    report.held_back_at = instant_of(numbers[3], time);
    report.rest_until = instant_of(numbers[4], time);
    for (std::size_t i = kFixed; i < numbers.size(); i += 2) {
      report.seconds.push_back({static_cast<std::uint64_t>(numbers[i]), static_cast<std::uint64_t>(numbers[i + 1])});
    }
  }
  return reports;
}

Step CircuitWatch::step() {
  const auto table = context_.handlers.snapshot();
  if (table->circuits.empty()) return {};
  const Instant now = context_.clock.steady();
  bool wanted = false;
  for (const auto& [name, circuit] : table->circuits) wanted |= circuit->take_wanted();
  if (!wanted && now < next_) return {false, next_};
  next_ = now + kExchangeEvery;
  if (!context_.store.info().shared) {
    for (const auto& [name, circuit] : table->circuits) circuit->rely_until(Instant::max());
  } else {
    exchange(*table, now, wanted);
  }
  tell_changes(*table);
  if (wanted) context_.claiming.notify();
  return {wanted, next_};
}

void CircuitWatch::exchange(const HandlerTable& table, Instant now, bool wanted) {
  NamedReports mine;
  for (const auto& [name, circuit] : table.circuits) {
    if (auto report = circuit->report(now)) mine.emplace(name, *std::move(report));
  }
  if (mine.empty() && !wanted) return;
  const std::string name_space = "circuits" + std::string{kBetweenFields} + context_.options.name_space;
  const std::vector<std::string> texts = report_texts(mine, context_.store_time, kMostText);
  const auto reply = context_.ask(StoreVerb::beat, [&](storage::Store& store) {
    for (std::size_t i = 1; i < texts.size(); ++i) {
      auto more = store.beat(beat_of(name_space, node(i), texts[i]));
      if (!more) return more;
    }
    return texts.empty() ? store.members(name_space) : store.beat(beat_of(name_space, node(0), texts[0]));
  });
  if (reply) hear(table, reply->members, now);
  for (const auto& [name, circuit] : table.circuits) {
    // A store that answered before and now fails is no reason to stop: each instance goes on with its own sums.
    if (reply || circuit->was_known()) circuit->rely_until(now + kKnownFor);
  }
}

std::string CircuitWatch::node(std::size_t number) const {
  return context_.owner + kBetweenFields + std::to_string(number);
}

void CircuitWatch::hear(const HandlerTable& table, const std::vector<Member>& members, Instant now) {
  std::map<std::string, std::vector<CircuitReport>> others;
  for (const Member& member : members) {
    if (member.node.starts_with(context_.owner + kBetweenFields)) continue;
    for (auto& [name, report] : parse_reports(member.says, context_.store_time)) {
      others[name].push_back(std::move(report));
    }
  }
  for (const auto& [name, circuit] : table.circuits) circuit->learn(now, others[name]);
}

void CircuitWatch::tell_changes(const HandlerTable& table) {
  bool opened = false;
  for (const auto& [name, circuit] : table.circuits) {
    const auto state = circuit->take_change(context_.clock.steady());
    if (!state) continue;
    const bool open = *state == CircuitState::open;
    opened |= open;
    const bool ordered = circuit->view(context_.clock.steady()).ordered;
    const std::string why = ordered ? "it was ordered to" : "attempts mostly fail";
    context_.log(LogLevel::warning,
                 open ? "circuit " + name + " opened: " + why + ", so tasks of its handlers are held back"
                      : "circuit " + name + " closed" + (ordered ? ": " + why : ""));
    const EventKind kind = open ? EventKind::circuit_opened : EventKind::circuit_closed;
    if (context_.events.heard()) context_.events.tell({kind, context_.store_now(), {}, name});
    context_.claiming.notify();
  }
  if (opened) opened_();
}

}  // namespace easyretry::engine
