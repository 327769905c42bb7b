#pragma once
// An SQL statement from a .sql file beside its store. Names in braces stand for tables and values, which are filled in.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace easyretry::storage {

struct Statement {
  using Values = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  std::string_view name;
  std::string_view text;

  std::string str() const { return std::string{text}; }
  // Throws std::logic_error if the statement has a name in braces that `values` lacks, or the other way round.
  std::string with(Values values) const;
};

}  // namespace easyretry::storage
