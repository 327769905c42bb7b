#include "storage/redis/housekeeping.h"

#include <charconv>

#include "storage/counts.h"
#include "storage/redis/record_layout.h"
#include "storage/redis/records.h"

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
    parsed_field.kind = to_string(*outcome);
  }
  return parsed_field;
}

Reply count_rows(Part& part, std::string_view space) {
  const std::string key = part.keys().counts(space);
  return part.read(Command::of("HGETALL", std::string_view{key}));
}

void join_days(Part& part, std::string_view space, TimePoint before) {
  const std::int64_t first_kept = before.time_since_epoch() / days{1};
  const Reply rows = count_rows(part, space);
  ScriptCall call = part.script(scripts::fold);
  call.keys.push_back(part.keys().counts(space));
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
  call.keys.insert(call.keys.end(), {part.keys().done(), key, part.keys().requeued()});
  call.arguments.push_back(std::to_string(before.time_since_epoch().count()));
  call.arguments.push_back(std::to_string(most));
  call.arguments.push_back(std::to_string(kItemsACall));
  return part.write_soon(call).integer(1) == static_cast<std::int64_t>(kItemsACall);
}

bool keep_part(Part& part, const RedisOptions& options) {
  bool more = false;
  const TimePoint now = part.now();
  const TimePoint before = first_month_kept(now, options.keep_months);
  for (const Name& space : part.spaces()) {
    join_days(part, space.text, first_day_kept(now));
    for (const std::string& key : {part.keys().ended(space.text), part.keys().dead(space.text)}) {
      if (trim(part, key, before, options.history_of_a_part())) more = true;
    }
  }
  return more;
}

}  // namespace

Counts counts(Parts& parts, std::string_view space) {
  Sums sums;
  for (std::size_t part_number = 0; part_number < parts.size(); ++part_number) {
    Part& part = parts.at(part_number);
    const Reply rows = count_rows(part, space);
    for (std::size_t i = 0; i + 1 < rows.size(); i += 2) {
      const CountField field = parse_field(rows.text(i));
      if (field.kind.empty()) continue;
      sums.add({TimePoint{days{field.day}}, std::string{space}, part.name_of(field.handler), field.kind},
               parsed<std::int64_t>(rows.text(i + 1)));
    }
  }
  return counts_of(sums, space);
}

// A part that cannot be reached does not keep the others from their housekeeping.
KeepReport keep(Parts& parts, const RedisOptions& options) {
  KeepReport report;
  std::exception_ptr failure;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    try {
      report.more = keep_part(parts.at(i), options) || report.more;
    } catch (const server::ServerError&) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  return report;
}

}  // namespace easyretry::storage::redis
