#include "storage/sql/placement.h"

namespace easyretry::storage::sql {

std::string to_text(const Placement& placement) {
  const std::string now = storage::to_text(placement.router.layout());
  return placement.before ? storage::to_text(placement.before->layout()) + ">" + now : now;
}

Placement parse_placement(std::string_view text, int total_shards, Millis window) {
  const auto router = [&](std::string_view layout) { return TableRouter{parse_layout(layout), total_shards, window}; };
  const auto mark = text.find('>');
  if (mark == std::string_view::npos) return {router(text)};
  return {router(text.substr(mark + 1)), router(text.substr(0, mark))};
}

}  // namespace easyretry::storage::sql
