#pragma once

#include <string>
#include <vector>

#include "printing/terminal.h"

namespace easyretry::app {

struct Column {
  std::string title;
  bool may_be_cut = false;
  bool right = false;        // aligned right, for numbers
  std::size_t readable = 8;  // of a column that may be cut: less width than this is useless
  int dispensable = 0;       // 0: never left out; otherwise left out in this order, 1 first
};

struct Cell {
  std::string text;
  Colour colour = Colour::none;
};

// A table that fits the terminal. If it is too wide, columns are left out, the most dispensable first, until the others
// are wide enough to be readable. Then the columns that may be cut are cut, the widest first, and below their readable
// width only if nothing else helps. Printed in pages; the first page determines the columns and their widths.
class Table {
 public:
  Table(std::vector<Column> columns, Terminal terminal);

  void add(std::vector<Cell> row);  // one cell per column
  void print();                     // the rows added since the last call
  bool empty() const { return rows_.empty() && !begun(); }
  std::vector<std::string> left_out() const;  // titles, once the table was printed

 private:
  bool begun() const { return !widths_.empty(); }
  void fit();
  void leave_out_columns();
  void cut_columns();
  void cut_to_floors(const std::vector<std::size_t>& floors);
  // The width of all columns that are shown, with the gaps between them.
  std::size_t total_width(const std::vector<std::size_t>& widths) const;
  void print_row(const std::vector<Cell>& row) const;

  const std::vector<Column> columns_;
  const Terminal terminal_;
  std::vector<std::size_t> widths_;  // 0: left out
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace easyretry::app
