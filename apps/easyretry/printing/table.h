#pragma once

#include <string>
#include <vector>

#include "printing/terminal.h"

namespace easyretry::app {

struct Column {
  std::string title;
  bool may_be_cut = false;
  bool right = false;  // numbers
};

struct Cell {
  std::string text;
  Colour colour = Colour::none;
};

// As wide as the terminal: what may be cut is, the widest first. Printed in pages; the first one decides how wide each
// column is.
class Table {
 public:
  Table(std::vector<Column> columns, Terminal terminal);

  void add(std::vector<Cell> row);  // one cell a column
  void print();                     // what was added since the last time
  bool empty() const { return rows_.empty() && !begun(); }

 private:
  bool begun() const { return !widths_.empty(); }
  void fit();
  void print_row(const std::vector<Cell>& row) const;

  const std::vector<Column> columns_;
  const Terminal terminal_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace easyretry::app
