#include "storage/split.h"

#include <stdexcept>

namespace easyretry::storage {
namespace {

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
