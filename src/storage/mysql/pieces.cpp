#include "storage/mysql/pieces.h"

#include "storage/server/server_error.h"

namespace easyretry::storage::mysql {

void check_row(std::size_t bytes, std::size_t most_bytes) {
  if (bytes <= most_bytes) return;
  throw server::ServerError(server::Trouble::bad_data,
                            "one task needs a statement of " + std::to_string(bytes) +
                                " bytes, but the server allows " + std::to_string(most_bytes) +
                                ": raise max_allowed_packet on the server, or store less with the task");
}

std::vector<Piece> cut_rows(const std::string& head, std::span<const std::string> rows, const std::string& tail,
                            std::size_t most_bytes) {
  const std::size_t around = head.size() + tail.size();
  const std::size_t wanted = std::min(kMostBytes, most_bytes);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check_row(around + rows[i].size(), most_bytes);
    Piece* piece = pieces.empty() ? nullptr : &pieces.back();
    const bool fits = piece != nullptr && piece->count < kMostRows &&
                      piece->statement.size() + 1 + rows[i].size() + tail.size() <= wanted;
    if (!fits) piece = &pieces.emplace_back(Piece{i, 0, head});
    piece->statement.append(piece->count > 0 ? "," : "").append(rows[i]);
    ++piece->count;
  }
  for (Piece& piece : pieces) piece.statement.append(tail);
  return pieces;
}

}  // namespace easyretry::storage::mysql
