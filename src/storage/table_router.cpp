#include "storage/table_router.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

#include "base/duration_text.h"
#include "task/task_id.h"

namespace easyretry::storage {
namespace {

constexpr std::string_view kTable = "retry_task";
constexpr std::string_view kPrefix = "retry_task_";
constexpr Millis kShortestWindow = std::chrono::days{1};
constexpr Millis kLongestWindow = std::chrono::days{3650};
constexpr Millis kLateReader = std::chrono::hours{1};

void validate_split(const Layout& from, const Layout& to, int total_shards) {
  const std::string refusal = "cannot split " + to_text(from) + " into " + to_text(to) + "; ";
  if (from.kind() != Layout::Kind::hash || to.kind() != Layout::Kind::hash) {
    throw std::invalid_argument(refusal +
                                "only hash layouts can be split, and a database keeps the kind of layout it was "
                                "created with: let its tasks end, then start on an empty one with layout=" +
                                to_text(to));
  }
  validate(from, total_shards);
  validate(to, total_shards);
  if (to.tables() == from.tables() || to.tables() % from.tables() != 0) {
    throw std::invalid_argument(refusal + "the new number must be a multiple of " + std::to_string(from.tables()) +
                                ", such as " + std::to_string(from.tables() * 2));
  }
}

}  // namespace

TableRouter::TableRouter(const Layout& layout, int total_shards, Millis window)
    : layout_(layout), total_shards_(total_shards), window_(window) {
  validate(layout, total_shards);
  if (window < kShortestWindow || window > kLongestWindow) {
    throw std::invalid_argument("a window of " + base::to_text(window) + "; it must be " +
                                base::to_text(kShortestWindow) + " to " + base::to_text(kLongestWindow));
  }
}

TableId TableRouter::table_of(TaskId id) const {
  return table_of(task::created_at(id), task::shard_of(id));
}

TableId TableRouter::table_of(TimePoint created, ShardId shard) const {
  return {period_index(created), suffix_of(shard)};
}

std::string TableRouter::name(TableId table) const {
  const std::string suffix = std::to_string(table.suffix);
  switch (layout_.kind()) {
    case Layout::Kind::single: return std::string{kTable};
    case Layout::Kind::hash: return std::string{kPrefix} + suffix;
    case Layout::Kind::period: break;
  }
  return std::string{kPrefix} + to_string(Period{layout_.length(), table.period}) + "_" + suffix;
}

std::optional<TableId> TableRouter::parse(std::string_view name) const {
  if (layout_.kind() == Layout::Kind::single) return name == kTable ? std::optional{TableId{}} : std::nullopt;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::string_view rest = name.substr(kPrefix.size());
  TableId table;
  if (layout_.kind() == Layout::Kind::period) {
    const auto underscore = rest.find('_');
    if (underscore == std::string_view::npos) return std::nullopt;
    const auto period = parse_period(layout_.length(), rest.substr(0, underscore));
    if (!period) return std::nullopt;
    table.period = period->index;
    rest.remove_prefix(underscore + 1);
  }
  const auto suffix = parse_suffix(rest);
  if (!suffix) return std::nullopt;
  table.suffix = *suffix;
  return table;
}

std::vector<TableId> TableRouter::moved_to(TaskId id, TimePoint now) const {
  const TableId own = table_of(id);
  const Periods latest = window_at(within_calendar(now) + kLateReader);  // as seen by the instance that moves rows
  if (own.period >= latest.first) return {};
  const TimePoint left = end_of({layout_.length(), own.period}) + window_;
  std::vector<TableId> tables;
  for (auto period = std::max(window_at(now).first, period_index(left)); period <= latest.last; ++period) {
    tables.push_back({period, own.suffix});
  }
  return tables;
}

std::vector<TableId> TableRouter::all_tables(TimePoint now) const {
  return tables_in(window_at(now));
}

std::vector<TableId> TableRouter::tables_ahead(TimePoint now, Millis ahead) const {
  const TimePoint until = within_calendar(now) + std::clamp(ahead, Millis{0}, kLongestWindow);
  return tables_in({period_index(now) + 1, period_index(until)});
}

std::vector<TableId> TableRouter::leaving(std::span<const std::string> existing, TimePoint now) const {
  return existing_in(existing, {std::numeric_limits<std::int32_t>::min(), window_at(now).first - 1});
}

std::vector<TableId> TableRouter::early(std::span<const std::string> existing, TimePoint now) const {
  return existing_in(existing, {period_index(now) + 1, std::numeric_limits<std::int32_t>::max()});
}

std::int32_t TableRouter::period_index(TimePoint time) const {
  return layout_.kind() == Layout::Kind::period ? period_at(layout_.length(), time).index : 0;
}

TableRouter::Periods TableRouter::window_at(TimePoint now) const {
  return {period_index(within_calendar(now) - window_), period_index(now)};
}

std::vector<TableId> TableRouter::tables_in(Periods periods) const {
  std::vector<TableId> tables;
  for (auto period = periods.first; period <= periods.last; ++period) {
    for (int suffix = 0; suffix < layout_.tables(); ++suffix) {
      tables.push_back({period, static_cast<std::uint16_t>(suffix)});
    }
  }
  return tables;
}

std::vector<TableId> TableRouter::existing_in(std::span<const std::string> existing, Periods periods) const {
  std::vector<TableId> tables;
  for (const std::string& name : existing) {
    const auto table = parse(name);
    if (table && table->period >= periods.first && table->period <= periods.last) tables.push_back(*table);
  }
  std::sort(tables.begin(), tables.end());
  return tables;
}

std::uint16_t TableRouter::suffix_of(ShardId shard) const {
  return static_cast<std::uint16_t>(static_cast<int>(shard) % layout_.tables());
}

std::optional<std::uint16_t> TableRouter::parse_suffix(std::string_view digits) const {
  std::uint16_t suffix = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), suffix);
  if (error != std::errc{} || end != digits.data() + digits.size() || suffix >= layout_.tables()) return std::nullopt;
  if (digits.size() > 1 && digits.starts_with('0')) return std::nullopt;
  return suffix;
}

std::vector<TableMove> split(const Layout& from, const Layout& to, int total_shards) {
  validate_split(from, to, total_shards);
  std::vector<TableMove> moves;
  for (int added = from.tables(); added < to.tables(); ++added) {
    TableMove move{{0, static_cast<std::uint16_t>(added % from.tables())}, {0, static_cast<std::uint16_t>(added)}, {}};
    for (int shard = added; shard < total_shards; shard += to.tables()) {
      move.shards.push_back(ShardId{static_cast<std::uint16_t>(shard)});
    }
    moves.push_back(move);
  }
  return moves;
}

}  // namespace easyretry::storage
