#pragma once
// A statement for many rows, cut into several that the server takes.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace easyretry::storage::mysql {

// More do not make a statement cheaper by the row.
inline constexpr std::size_t kMostRows = 500;
// A round trip of 4 MiB costs no more by the byte than a longer one, and less memory.
inline constexpr std::size_t kMostBytes = std::size_t{4} << 20;

struct Piece {
  std::size_t first;
  std::size_t count;
  std::string statement;
};

// Throws bad_data if the row of one task has more bytes than the server accepts.
void check_row(std::size_t bytes, std::size_t most_bytes);

// head row, row, row tail. Throws bad_data where one row alone has more than the server's `most_bytes`.
std::vector<Piece> cut_rows(const std::string& head, std::span<const std::string> rows, const std::string& tail,
                            std::size_t most_bytes);

// Calls use(span) for at most kMostRows at a time.
template <class T, class Use>
void by_pieces(std::span<const T> all, Use use) {
  for (std::size_t first = 0; first < all.size(); first += kMostRows) {
    use(all.subspan(first, std::min(kMostRows, all.size() - first)));
  }
}

}  // namespace easyretry::storage::mysql
