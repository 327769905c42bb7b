#include "storage/redis/housekeeping.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <set>

#include "storage/counts.h"
#include "storage/redis/record_layout.h"
#include "storage/redis/records.h"
#include "storage/retention.h"

namespace easyretry::storage::redis {
namespace {

using std::chrono::days;

// "20522 S 3": day since 1970, layout::CountKind or the number of an outcome, number of the handler.
struct CountField {
  std::int64_t day = 0;
  std::string kind{};
  unsigned handler = 0;
};

template <class T>
T parsed(std::string_view digits) {
  T value{};
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

CountField parse_field(std::string_view field) {
  const auto first = field.find(' ');
  const auto last = field.rfind(' ');
  if (first == std::string_view::npos || last == first) return {};
  CountField parsed_field{parsed<std::int64_t>(field.substr(0, first)), {}, parsed<unsigned>(field.substr(last + 1))};
  const std::string_view kind = field.substr(first + 1, last - first - 1);
  if (kind == layout::CountKind::stored_tasks) {
    parsed_field.kind = "STORED";
  } else if (const auto outcome = outcome_of(parsed<unsigned>(kind))) {
    parsed_field.kind = task::stored_name(*outcome);
  }
  return parsed_field;
}

Reply count_rows(Part& part, std::string_view name_space) {
  const std::string key = part.keys().counts(name_space);
  return part.read(Command::of("HGETALL", std::string_view{key}));
}

void join_days(Part& part, std::string_view name_space, TimePoint before) {
  const std::int64_t first_kept = before.time_since_epoch() / days{1};
  const Reply rows = count_rows(part, name_space);
  ScriptCall call = part.script(scripts::fold);
  call.keys.push_back(part.keys().counts(name_space));
  const std::size_t without = call.arguments.size();
  for (std::size_t i = 0; i + 1 < rows.size(); i += 2) {
    const std::int64_t day = parse_field(rows.text(i)).day;
    if (day != 0 && day < first_kept && call.arguments.size() - without < kItemsACall) {
      call.arguments.emplace_back(rows.text(i));
    }
  }
  if (call.arguments.size() > without) part.write_soon(call);
}

TimePoint first_month_kept(TimePoint now, int keep_months) {
  const std::chrono::year_month_day today{std::chrono::floor<days>(now)};
  const auto first = today.year() / today.month() - std::chrono::months{keep_months};
  return std::chrono::sys_days{first / 1};
}

// True: there is more to remove.
bool trim(Part& part, const std::string& key, TimePoint before, std::int64_t most) {
  ScriptCall call = part.script(scripts::trim);
  call.keys.insert(call.keys.end(), {part.keys().done(), key, part.keys().requeued(), part.keys().results(),
                                     part.keys().results_until()});
  call.arguments.push_back(std::to_string(before.time_since_epoch().count()));
  call.arguments.push_back(std::to_string(most));
  call.arguments.push_back(std::to_string(kItemsACall));
  return part.write_soon(call).integer(1) == static_cast<std::int64_t>(kItemsACall);
}

// True: there is more to remove.
bool drop_results(Part& part) {
  ScriptCall call = part.script(scripts::drop_results);
  call.keys.insert(call.keys.end(), {part.keys().results(), part.keys().results_until()});
  call.arguments.push_back(std::to_string(kItemsACall));
  return part.write_soon(call).integer(1) == static_cast<std::int64_t>(kItemsACall);
}

bool keep_part(Part& part, const RedisOptions& options) {
  bool more = drop_results(part);
  const TimePoint now = part.now();
  const TimePoint before = first_month_kept(now, options.keep_months);
  for (const Name& name_space : part.namespaces()) {
    join_days(part, name_space.text, first_day_kept(now));
    for (const std::string& key : {part.keys().ended(name_space.text), part.keys().dead(name_space.text)}) {
      if (trim(part, key, before, options.history_of_a_part())) more = true;
    }
  }
  return more;
}

// Calls of expire.lua in each part, some milliseconds each. The next call of expire() does the rest.
constexpr int kExpireCalls = 20;

void read_marks(Part& part, const std::string& name_space, RetentionMarks& into) {
  const std::string key = part.keys().swept(name_space);
  const Reply fields = part.read(Command::of("HGETALL", std::string_view{key}));
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const std::string_view field = fields.text(i);
    const std::string_view digits = field.substr(std::min(field.find(' ') + 1, field.size()));
    SweptUntil& swept = into[{name_space, part.name_of(parsed<unsigned>(digits))}];
    TimePoint& until = field.starts_with(layout::Swept::tasks) ? swept.tasks : swept.arguments;
    const TimePoint here{Millis{parsed<std::int64_t>(fields.text(i + 1))}};
    // The earliest of its classes: an earlier release sweeps normal tasks alone.
    until = until == SweptUntil{}.tasks ? here : std::min(until, here);
  }
}

// Returns the end up to which the walk is done.
TimePoint expire_some(Part& part, const Walk& walk) {
  const Keys& keys = part.keys();
  ScriptCall call = part.script(scripts::expire);
  call.keys.insert(call.keys.end(), {keys.done(), keys.ended(walk.name_space), keys.dead(walk.name_space),
                                     keys.requeued(), keys.swept(walk.name_space)});
  Packer handlers;
  for (const std::string& handler : walk.handlers) {
    for (const TaskClass task_class : {TaskClass::normal, TaskClass::urgent, TaskClass::background}) {
      handlers.record(layout::HandlerNumber{part.number_of(kind_for(task_class), handler)});
    }
  }
  call.arguments.push_back(std::to_string(walk.from.time_since_epoch().count()));
  call.arguments.push_back(std::to_string(walk.until.time_since_epoch().count()));
  call.arguments.push_back(handlers.take());
  call.arguments.emplace_back(walk.what == Expiry::tasks ? layout::Swept::tasks : layout::Swept::arguments);
  call.arguments.push_back(std::to_string(kItemsACall));
  return TimePoint{Millis{part.write_soon(call).integer(1)}};
}

bool expire_part(Part& part, std::span<const Retention> rules) {
  std::set<std::string> namespaces;
  for (const Retention& rule : rules) namespaces.insert(rule.name_space);
  RetentionMarks marks;
  for (const std::string& name_space : namespaces) read_marks(part, name_space, marks);
  int calls = 0;
  for (Walk& walk : walks(rules, marks, part.now())) {
    for (; walk.from < walk.until; walk.from = expire_some(part, walk)) {
      if (++calls > kExpireCalls) return true;
    }
  }
  return false;
}

// body(part) -> whether there is more to do. A part that cannot be reached does not keep the others from their
// housekeeping.
template <class Body>
bool in_each_part(Parts& parts, Body body) {
  bool more = false;
  std::exception_ptr failure;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    try {
      more = body(parts.at(i)) || more;
    } catch (const server::ServerError&) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  return more;
}

}  // namespace

Counts counts(Parts& parts, std::string_view name_space) {
  Sums sums;
  for (std::size_t part_number = 0; part_number < parts.size(); ++part_number) {
    Part& part = parts.at(part_number);
    const Reply rows = count_rows(part, name_space);
    for (std::size_t i = 0; i + 1 < rows.size(); i += 2) {
      const CountField field = parse_field(rows.text(i));
      if (field.kind.empty()) continue;
      sums.add({TimePoint{days{field.day}}, std::string{name_space}, part.name_of(field.handler), field.kind},
               parsed<std::int64_t>(rows.text(i + 1)));
    }
  }
  return counts_of(sums, name_space);
}

KeepReport keep(Parts& parts, const RedisOptions& options) {
  return {.more = in_each_part(parts, [&](Part& part) { return keep_part(part, options); })};
}

bool expire(Parts& parts, std::span<const Retention> rules) {
  if (rules.empty()) return false;
  return in_each_part(parts, [&](Part& part) { return expire_part(part, rules); });
}

}  // namespace easyretry::storage::redis
