#include "printing/table.h"

#include <algorithm>

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
  leave_out_columns();
  cut_columns();
}

std::size_t Table::total_width(const std::vector<std::size_t>& widths) const {
  std::size_t total = 0;
  for (const std::size_t width : widths) total += width == 0 ? 0 : width + kGap.size();
  return total - std::min(total, kGap.size());
}

void Table::leave_out_columns() {
  std::vector<std::size_t> least = widths_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::size_t readable = std::max(columns_[i].readable, width_of(columns_[i].title));
    if (columns_[i].may_be_cut) least[i] = std::min(least[i], readable);
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].dispensable > 0) order.push_back(i);
  }
  std::ranges::sort(order, {}, [this](std::size_t i) { return columns_[i].dispensable; });
  for (const std::size_t i : order) {
    if (total_width(least) > terminal_.width) widths_[i] = least[i] = 0;
  }
}

void Table::cut_columns() {
  std::vector<std::size_t> floors;
  for (const Column& column : columns_) floors.push_back(std::max(column.readable, kNarrowest));
  cut_to_floors(floors);
  cut_to_floors(std::vector<std::size_t>(columns_.size(), kNarrowest));
}

void Table::cut_to_floors(const std::vector<std::size_t>& floors) {
  while (total_width(widths_) > terminal_.width) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].may_be_cut || widths_[i] <= floors[i]) continue;
      if (widest == nullptr || widths_[i] > *widest) widest = &widths_[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

std::vector<std::string> Table::left_out() const {
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    if (widths_[i] == 0) titles.push_back(columns_[i].title);
  }
  return titles;
}

void Table::print_row(const std::vector<Cell>& row) const {
  std::string line;
  std::string space;  // before the next cell, so that no line ends with spaces
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (widths_[i] == 0) continue;
    const std::string text = columns_[i].may_be_cut ? cut_to(row[i].text, widths_[i]) : row[i].text;
    const std::size_t used = width_of(text);
    const std::string padding(used < widths_[i] ? widths_[i] - used : 0, ' ');
    const std::string shown = coloured(terminal_, row[i].colour, text);
    line += space + (columns_[i].right ? padding + shown : shown);
    space = (columns_[i].right ? "" : padding) + std::string{kGap};
  }
  fmt::print("{}\n", line);
}

}  // namespace easyretry::app
