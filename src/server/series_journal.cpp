#include "server/series_journal.h"

#include <algorithm>

#include <easyretry/json.h>

#include "base/utf8.h"

namespace easyretry::server {
namespace {

constexpr std::int64_t kSlotsInPart = 30;
constexpr std::int64_t kParts = 24 * 12 + 1;  // a day, and the one that is growing

// One handler. A step is slot, stored, succeeded, failed attempts, ended badly, backlog, and pairs for the lateness:
// a place in the histogram and a number of attempts.
struct SavedLine {
  std::string handler;
  std::vector<std::vector<std::int64_t>> steps;
};
EASYRETRY_JSON(SavedLine, handler, steps)

struct SavedPart {
  std::int64_t from = 0;
  std::int64_t until = 0;
  std::vector<SavedLine> lines{};
};
EASYRETRY_JSON(SavedPart, from, until, lines)

constexpr std::size_t kCounts = 6;  // before the pairs
constexpr std::int64_t kMostBuckets = 1000;

std::vector<std::int64_t> saved(std::int64_t slot, const SeriesReading& growth) {
  std::vector<std::int64_t> step{
      slot, growth.stored, growth.succeeded, growth.failed_attempts, growth.ended_badly, growth.backlog};
  for (std::size_t i = 0; i < growth.late.size(); ++i) {
    if (growth.late[i] == 0) continue;
    step.push_back(static_cast<std::int64_t>(i));
    step.push_back(static_cast<std::int64_t>(growth.late[i]));
  }
  return step;
}

// Nullopt: this is not a valid step.
std::optional<SeriesReading> growth_in(const std::vector<std::int64_t>& step) {
  if (step.size() < kCounts || (step.size() - kCounts) % 2 != 0) return std::nullopt;
  SeriesReading growth{step[1], step[2], step[3], step[4], step[5]};
  for (std::size_t i = kCounts; i < step.size(); i += 2) {
    if (step[i] < 0 || step[i] >= kMostBuckets || step[i + 1] < 0) return std::nullopt;
    const auto place = static_cast<std::size_t>(step[i]);
    if (growth.late.size() <= place) growth.late.resize(place + 1);
    growth.late[place] = static_cast<std::uint64_t>(step[i + 1]);
  }
  return growth;
}

std::optional<SavedPart> part_in(const std::string& text) {
  try {
    auto part = from_json<SavedPart>(text);
    const bool sound = part.from >= 0 && part.from <= part.until && part.until - part.from <= kParts * kSlotsInPart;
    return sound ? std::optional{std::move(part)} : std::nullopt;
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

}  // namespace

void SeriesJournal::add(SeriesGrowth step) {
  const std::int64_t slot = step.slot;
  // A day is enough: older places have been taken by other parts.
  constexpr std::int64_t kDay = (kParts - 1) * kSlotsInPart;
  if (!from_ || slot != until_ + 1) from_ = slot;
  from_ = std::max(*from_, slot - kDay);
  until_ = slot;
  Part& part = parts_[slot / kSlotsInPart];
  part.from = *from_;
  part.until = slot;
  if (step.lines.empty()) return;
  part.changed = true;
  part.steps[slot] = std::move(step.lines);
}

void SeriesJournal::resume(const std::vector<SeriesGrowth>& steps) {
  if (steps.empty()) return;
  const std::int64_t last = steps.back().slot / kSlotsInPart;
  for (const SeriesGrowth& step : steps) {
    if (step.slot / kSlotsInPart == last) add(step);
  }
  parts_[last].changed = false;
}

void SeriesJournal::save(const std::function<bool(const storage::SeriesPart&)>& save) {
  for (auto& [number, part] : parts_) {
    if (part.changed && save({number % kParts, text_of(part)})) part.changed = false;
  }
  const std::int64_t current = until_ / kSlotsInPart;
  std::erase_if(parts_, [&](const auto& one) {
    return one.first != current && (!one.second.changed || one.first <= current - kParts);
  });
}

std::string SeriesJournal::text_of(const Part& part) {
  std::map<std::string, SavedLine> lines;
  for (const auto& [slot, growths] : part.steps) {
    for (const auto& [handler, growth] : growths) {
      SavedLine& line = lines[handler];
      line.handler = base::storable_utf8(handler);
      line.steps.push_back(saved(slot, growth));
    }
  }
  SavedPart whole{part.from, part.until};
  for (auto& [handler, line] : lines) whole.lines.push_back(std::move(line));
  return to_json(whole);
}

std::vector<SeriesGrowth> SeriesJournal::read(std::span<const storage::SeriesPart> parts, std::int64_t first) {
  std::map<std::int64_t, SeriesReadings> steps;
  for (const storage::SeriesPart& part : parts) {
    const auto saved_part = part_in(part.text);
    if (!saved_part) continue;
    for (std::int64_t slot = std::max(first, saved_part->from); slot <= saved_part->until; ++slot) steps[slot];
    for (const SavedLine& line : saved_part->lines) {
      for (const auto& step : line.steps) {
        const auto growth = growth_in(step);
        if (growth && step.front() >= first && step.front() <= saved_part->until)
          steps[step.front()][line.handler] = *growth;
      }
    }
  }
  std::vector<SeriesGrowth> all;
  for (auto& [slot, growths] : steps) all.push_back({slot, std::move(growths)});
  return all;
}

}  // namespace easyretry::server
