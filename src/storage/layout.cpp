#include "storage/layout.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "storage/url.h"
#include "task/task_id.h"

namespace easyretry::storage {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw std::invalid_argument("layout \"" + std::string{text} + "\": " + why +
                              "; write single, hash(16) or period(month,2)");
}

int parse_tables(std::string_view number, std::string_view text) {
  int tables = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), tables);
  const bool all_read = error == std::errc{} && end == number.data() + number.size();
  if (!all_read || tables < 1 || number.starts_with('0')) {
    refuse(text, "\"" + std::string{number} + "\" is not a number of tables");
  }
  return tables;
}

Layout parse_period_layout(std::string_view inside, std::string_view text) {
  const auto comma = inside.find(',');
  const std::string_view word = inside.substr(0, comma);
  const auto length = parse_period_length(word);
  if (!length) refuse_word("period", word, text, {"month", "half_month", "week", "day"});
  if (comma == std::string_view::npos) return Layout::period(*length);
  return Layout::period(*length, parse_tables(inside.substr(comma + 1), text));
}

// "8 or 16": the divisors next to the requested number.
std::string divisors_around(int tables, int total_shards) {
  int below = std::min(tables, total_shards);
  while (below >= 1 && total_shards % below != 0) --below;
  int above = std::max(tables, 1);
  while (above <= total_shards && total_shards % above != 0) ++above;
  if (below < 1) return std::to_string(above);
  if (above > total_shards) return std::to_string(below);
  return std::to_string(below) + " or " + std::to_string(above);
}

}  // namespace

std::string to_text(const Layout& layout) {
  const std::string tables = std::to_string(layout.tables());
  switch (layout.kind()) {
    case Layout::Kind::single: return "single";
    case Layout::Kind::hash: return "hash(" + tables + ")";
    case Layout::Kind::period: break;
  }
  return "period(" + std::string{to_string(layout.length())} + "," + tables + ")";
}

Layout parse_layout(std::string_view text) {
  const auto open = text.find('(');
  const std::string_view word = text.substr(0, open);
  if (word != "single" && word != "hash" && word != "period") {
    refuse_word("layout", word, text, {"single", "hash", "period"});
  }
  if (word == "single") {
    if (open != std::string_view::npos) refuse(text, "single is one table and takes nothing in brackets");
    return Layout::single();
  }
  if (open == std::string_view::npos) refuse(text, "it has no brackets");
  if (!text.ends_with(')')) refuse(text, "it does not end with a bracket");
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  return word == "hash" ? Layout::hash(parse_tables(inside, text)) : parse_period_layout(inside, text);
}

void validate(const Layout& layout, int total_shards) {
  if (total_shards < 1 || total_shards > task::kMaxShards) {
    throw std::invalid_argument(std::to_string(total_shards) + " shards; use 1 to " + std::to_string(task::kMaxShards));
  }
  if (layout.tables() >= 1 && total_shards % layout.tables() == 0) return;
  throw std::invalid_argument(to_text(layout) + " does not divide " + std::to_string(total_shards) + " shards; use " +
                              divisors_around(layout.tables(), total_shards));
}

}  // namespace easyretry::storage
