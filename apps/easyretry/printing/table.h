#pragma once

#include <string>
#include <vector>

#include "printing/terminal.h"

namespace easyretry::app {

struct Column {
  std::string title;
  bool may_be_cut = false;
  bool right = false;  // aligned right, for numbers
};

struct Cell {
  std::string text;
  Colour colour = Colour::none;
};

// A table that fits the terminal: columns that may be cut are, the widest first. Printed in pages; the first page
// determines the widths of the columns.
class Table {
 public:
  Table(std::vector<Column> columns, Terminal terminal);

  void add(std::vector<Cell> row);  // one cell per column
  void print();                     // the rows added since the last call
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
