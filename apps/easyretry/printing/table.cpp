#include "printing/table.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace easyretry::app {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kNarrowest = 8;  // width of a column that is cut; a table that still does not fit overflows

}  // namespace

Table::Table(std::vector<Column> columns, Terminal terminal) : columns_(std::move(columns)), terminal_(terminal) {}

void Table::add(std::vector<Cell> row) {
  for (Cell& cell : row) cell.text = printable(cell.text);
  rows_.push_back(std::move(row));
}

void Table::print() {
  if (!begun()) {
    fit();
    std::vector<Cell> titles;
    for (const Column& column : columns_) titles.push_back({column.title, Colour::faint});
    print_row(titles);
  }
  for (const auto& row : rows_) print_row(row);
  rows_.clear();
}

void Table::fit() {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, width_of(row[i].text));
    widths_.push_back(width);
  }
  const std::size_t gaps = kGap.size() * (columns_.size() - 1);
  while (std::accumulate(widths_.begin(), widths_.end(), gaps) > terminal_.width) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].may_be_cut || widths_[i] <= kNarrowest) continue;
      if (widest == nullptr || widths_[i] > *widest) widest = &widths_[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

void Table::print_row(const std::vector<Cell>& row) const {
  std::string line;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string text = columns_[i].may_be_cut ? cut_to(row[i].text, widths_[i]) : row[i].text;
    const std::size_t used = width_of(text);
    const std::string space(used < widths_[i] ? widths_[i] - used : 0, ' ');
    const std::string shown = coloured(terminal_, row[i].colour, text);
    const bool last = i + 1 == columns_.size();
    line.append(i == 0 ? "" : kGap).append(columns_[i].right ? space + shown : shown + (last ? "" : space));
  }
  fmt::print("{}\n", line);
}

}  // namespace easyretry::app
